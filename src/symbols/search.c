/* SPDX-License-Identifier: MIT */
/*
 * Looking for files. A file that is found by its name may be another one by now: its names would be wrong ones. So each
 * has to be proved: by the build-id, or, where there is none, by the checksum that its .gnu_debuglink has. One that is not
 * is left, and said; the search goes on, as it does behind a file that has not what is wanted.
 */
#include "search.h"
#include "link.h"
#include "packed.h"

#ifdef __linux__
#include "base/library.h"
#endif

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum proof { BY_RECORDED_ID, BY_ID, BY_LINK };

struct attempt {
	struct search *search;
	struct elf *elf;
	char *path;
	enum proof proof;
	uint32_t crc;
	bool (*wanted)(const struct elf *);
	bool packed; /* it may be packed as a whole */
	enum search_fit fit;
	int error;
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static void hex(const uint8_t *id, size_t size, char *to)
{
	size_t i;

	for (i = 0; i < size && i < 20; i++)
		sprintf(to + i * 2, "%02x", id[i]);
	to[i * 2] = 0;
}

static bool is_said(const char *refused, const char *path)
{
	const char *at = refused;

	while ((at = strstr(at, path)) && ((at != refused && at[-1] != ' ') || at[strlen(path)] != ' '))
		at++;
	return at != NULL;
}

/* The first ones; a file that is tried twice is said once. */
static void refuse(struct search *s, const char *path, const char *why)
{
	size_t used = strlen(s->refused);

	if (!is_said(s->refused, path) && used + strlen(path) + strlen(why) + 4 < sizeof(s->refused))
		snprintf(s->refused + used, sizeof(s->refused) - used, "%s%s %s", used ? "; " : "", path, why);
}

/* ---- one file ----------------------------------------------------------------------------------------------- */

static bool same_id(const struct search *s, const struct elf *elf, int *size)
{
	uint8_t id[20];

	*size = elf_build_id(elf, id);
	return *size == s->id_size && !memcmp(id, s->id, (size_t)*size);
}

static bool is_proved(struct attempt *a)
{
	struct search *s = a->search;
	int size;
	bool same = same_id(s, a->elf, &size);

	if (a->proof == BY_RECORDED_ID && !s->recorded_id && size && s->bare_inode && a->elf->source.inode != s->bare_inode) {
		refuse(s, a->path, "has a build-id, and the one that was mapped had none");
		return false;
	}
	if (a->proof == BY_RECORDED_ID && (same || !s->recorded_id))
		return true;
	if (a->proof != BY_RECORDED_ID && same && size)
		return true;
	if (a->proof == BY_LINK && !(size && s->id_size)) {
		if (link_crc(a->elf->source.data, a->elf->source.size) == a->crc)
			return true;
		refuse(s, a->path, "has another checksum than its .gnu_debuglink says");
		return false;
	}
	if (a->proof != BY_RECORDED_ID)
		refuse(s, a->path, size ? "has another build-id" : "has no build-id");
	return false;
}

static bool try_path(struct attempt *a)
{
	a->error = a->packed ? packed_open(a->elf, a->path) : elf_open(a->elf, a->path);
	if (a->error < 0) {
		a->fit = a->error == -ENOEXEC ? FIT_NO_ELF : FIT_NO_FILE;
		return false;
	}
	a->fit = FIT_YES;
	if (a->wanted && !a->wanted(a->elf))
		a->fit = FIT_NO_ELF;
	else if (!is_proved(a))
		a->fit = FIT_OTHER_ID;
	if (a->fit != FIT_YES)
		elf_close(a->elf);
	return a->fit == FIT_YES;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool try_at(struct attempt *a, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(a->path, SEARCH_PATH, format, args);
	va_end(args);
	return n > 0 && n < SEARCH_PATH && try_path(a);
}

/* ---- the mapped file ---------------------------------------------------------------------------------------- */

bool search_cached(const uint8_t *id, uint8_t id_size, const char *cache, const char *file, char *path)
{
	char text[41];
	int n;

	if (id_size < 2)
		return false;
	hex(id, id_size, text);
	n = snprintf(path, SEARCH_PATH, "%s/.build-id/%.2s/%s%s", cache, text, text + 2, file);
	return n > 0 && n < SEARCH_PATH;
}

/* In the cache a build-id names a folder with the file; in those of old the file itself. */
static bool try_cache(struct attempt *a, const char *cache, const char *file)
{
	return cache && search_cached(a->search->id, a->search->id_size, cache, file, a->path) && try_path(a);
}

static bool try_copies(struct attempt *a)
{
	static const char *const files[] = {"/elf", "/vdso", ""};
	const struct module_places *places = a->search->places;
	char id[41];
	size_t i;

	if (!a->search->recorded_id)
		return false;
	a->proof = BY_ID;
	for (i = 0; i < 3; i++)
		if (try_cache(a, places->cache, files[i]) || try_cache(a, places->symfs, files[i]))
			return true;
	hex(a->search->id, a->search->id_size, id);
	return places->symfs && try_at(a, "%s%s/%s/elf", places->symfs, a->search->name, id);
}

/* A deleted file may have come back, as the same one. */
static bool try_undeleted(struct attempt *a)
{
	const char *name = a->search->name, *end = strstr(name, " (deleted)");

	a->proof = BY_ID;
	return end && !end[10] && a->search->recorded_id &&
	       try_at(a, "%s%.*s", or_empty(a->search->places->symfs), (int)(end - name), name);
}

/* As the process sees it. Processes of several namespaces may have files of one name: so where nothing proves which one it
 * is, that of the machine is believed first. */
static bool try_in_namespace(struct attempt *a, int error)
{
	const struct search *s = a->search;

	return s->places->proc && s->pid > 0 && (s->recorded_id || error == -ENOENT) &&
	       try_at(a, "%s/%d/root%s", s->places->proc, (int)s->pid, s->name);
}

enum search_fit search_mapped(struct search *s, struct elf *ret, char *path, int *error)
{
	struct attempt a = {.search = s, .elf = ret, .path = path, .proof = BY_RECORDED_ID};
	enum search_fit fit = FIT_NO_FILE;

	*error = -ENOENT;
	if (s->name[0] == '/') {
		if (try_at(&a, "%s%s", or_empty(s->places->symfs), s->name))
			return FIT_YES;
		fit = a.fit;
		*error = a.error;
		if (try_in_namespace(&a, *error) || try_undeleted(&a))
			return FIT_YES;
	}
	return try_copies(&a) ? FIT_YES : fit;
}

/* ---- what processes write ----------------------------------------------------------------------------------- */

bool search_in_process(const struct module_places *places, int32_t pid, const char *name, char *path)
{
	int n = places->proc && pid > 0 ? snprintf(path, SEARCH_PATH, "%s/%d/root%s", places->proc, (int)pid, name) : 0;

	return n > 0 && n < SEARCH_PATH;
}

/* What a process calls itself: in the innermost of its namespaces. */
static long inner_pid(const char *proc, long pid)
{
	char path[512], text[8192];
	struct source source;
	int64_t n, used = 0;
	char *line;

	snprintf(path, sizeof(path), "%s/%ld/status", proc, pid);
	if (source_open(&source, path, SOURCE_STREAM) < 0)
		return pid;
	do {
		n = source_read(&source, text + used, sizeof(text) - 1 - (size_t)used);
		used += n > 0 ? n : 0;
	} while (n > 0 && used < (int64_t)sizeof(text) - 1);
	source_close(&source);
	text[used] = 0;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return pid;
	line[1 + strcspn(line + 1, "\n")] = 0;
	line = strrchr(line, '\t');
	return line && atol(line + 1) > 0 ? atol(line + 1) : pid;
}

bool search_list(const struct module_places *places, const char *name, unsigned number, char *path)
{
	char inside[64];
	long pid = atol(name + sizeof("/tmp/perf-") - 1);

	if (number == 0)
		return snprintf(path, SEARCH_PATH, "%s%s", or_empty(places->symfs), name) < SEARCH_PATH;
	if (number > 1 || !places->proc || pid <= 0 || pid > INT32_MAX)
		return false;
	snprintf(inside, sizeof(inside), "/tmp/perf-%ld.map", inner_pid(places->proc, pid));
	return search_in_process(places, (int32_t)pid, inside, path);
}

/* ---- debug files -------------------------------------------------------------------------------------------- */

static bool try_by_id(struct attempt *a)
{
	const struct module_places *places = a->search->places;
	char id[41];

	a->proof = BY_ID;
	if (a->search->id_size < 2)
		return false;
	hex(a->search->id, a->search->id_size, id);
	return try_at(a, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", or_empty(places->symfs), id, id + 2) ||
	       try_cache(a, places->cache, "/debug") || try_cache(a, places->symfs, "/debug") ||
	       try_cache(a, places->cache, "/elf") || try_cache(a, places->cache, "");
}

static int folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) : 0;
}

/* Beside a file, and below the folder of debug files, where both names of a merged /usr may have been meant. */
static bool try_around(struct attempt *a, const char *root, const char *file, const char *name)
{
	int length = folder_length(file);
	bool usr = !strncmp(file, "/usr/", 5);

	return try_at(a, "%s%.*s/%s", root, length, file, name) || try_at(a, "%s%.*s/.debug/%s", root, length, file, name) ||
	       try_at(a, "%s/usr/lib/debug%.*s/%s", root, length, file, name) ||
	       (usr ? length > 4 && try_at(a, "%s/usr/lib/debug%.*s/%s", root, length - 4, file + 4, name)
		    : try_at(a, "%s/usr/lib/debug/usr%.*s/%s", root, length, file, name));
}

/* The name counts from where the file was, not from where a copy of it is. */
static bool try_by_link(struct attempt *a)
{
	struct search *s = a->search;
	char root[64];
	const char *name;

	a->proof = BY_LINK;
	if (!s->mapped || !link_debug(s->mapped, &name, &a->crc))
		return false;
	s->linked = true;
	if (s->name[0] != '/')
		return false;
	if (s->places->proc && s->pid > 0 && strlen(s->places->proc) < 32) {
		snprintf(root, sizeof(root), "%s/%d/root", s->places->proc, (int)s->pid);
		if (try_around(a, root, s->name, name))
			return true;
	}
	if (try_around(a, or_empty(s->places->symfs), s->name, name))
		return true;
	return s->mapped_path && try_at(a, "%.*s/%s", folder_length(s->mapped_path), s->mapped_path, name);
}

/* ---- debuginfod --------------------------------------------------------------------------------------------- */

#ifdef __linux__
static bool load_function(void *library, const char *name, void *to)
{
	void *address = library ? dlsym(library, name) : NULL;

	memcpy(to, &address, sizeof(address)); /* a function is no object */
	return address != NULL;
}

/* From servers, which their library's environment names; what it fetched stays in its own cache. */
static bool try_servers(struct attempt *a)
{
	void *(*begin)(void);
	void (*end)(void *);
	int (*fetch)(void *, const unsigned char *, int, char **);
	void *library, *client;
	char *path = NULL;
	bool done = false;

	if (!a->search->places->debuginfod || a->search->id_size < 2)
		return false;
	library = library_open("libdebuginfod.so.1");
	if (!load_function(library, "debuginfod_begin", &begin) || !load_function(library, "debuginfod_end", &end) ||
	    !load_function(library, "debuginfod_find_debuginfo", &fetch)) {
		refuse(a->search, "libdebuginfod.so.1", "is not installed: nothing was fetched");
		return false;
	}
	client = begin(); /* the library stays: those that it loads do not bear to be unloaded */
	if (client) {
		struct source file;
		int fd = fetch(client, a->search->id, a->search->id_size, &path);

		if (fd >= 0) {
			source_take(&file, fd);
			a->proof = BY_ID;
			done = path && try_at(a, "%s", path);
			source_close(&file);
		}
		free(path);
		end(client);
	}
	return done;
}
#else
static bool try_servers(struct attempt *a)
{
	(void)a;
	return false;
}
#endif

bool search_debug(struct search *s, struct elf *ret, char *path, bool (*wanted)(const struct elf *))
{
	struct attempt a = {.search = s, .elf = ret, .path = path, .wanted = wanted};

	return try_by_id(&a) || try_by_link(&a) || try_servers(&a);
}

/* ---- the kernel ------------------------------------------------------------------------------------------------ */

/* Where distributions put images and their debug files, and those who build kernels. */
static bool try_release(struct attempt *a)
{
	static const struct {
		const char *before, *behind;
	} names[] = {{"/boot/vmlinux-", ""},
		     {"/usr/lib/debug/boot/vmlinux-", ""},
		     {"/usr/lib/debug/boot/vmlinux-", ".debug"},
		     {"/usr/lib/debug/lib/modules/", "/vmlinux"},
		     {"/usr/lib/debug/usr/lib/modules/", "/vmlinux"},
		     {"/usr/lib/debug/lib/modules/", "/vmlinux.debug"},
		     {"/lib/modules/", "/vmlinux"},
		     {"/lib/modules/", "/build/vmlinux"}};
	const struct module_places *places = a->search->places;
	size_t i;

	for (i = 0; places->release && i < sizeof(names) / sizeof(names[0]); i++)
		if (try_at(a, "%s%s%s%s", or_empty(places->symfs), names[i].before, places->release, names[i].behind))
			return true;
	return false;
}

bool search_kernel(struct search *s, struct elf *ret, char *path, bool (*wanted)(const struct elf *))
{
	struct attempt a = {.search = s, .elf = ret, .path = path, .wanted = wanted};
	char why[128];

	if (s->places->vmlinux) {
		a.proof = s->id_size ? BY_ID : BY_RECORDED_ID;
		if (try_at(&a, "%s", s->places->vmlinux))
			return true;
		snprintf(why, sizeof(why), "cannot be read: %s", strerror(-a.error));
		if (a.fit == FIT_NO_FILE)
			refuse(s, s->places->vmlinux, why);
		else if (a.fit == FIT_NO_ELF)
			refuse(s, s->places->vmlinux, a.error < 0 ? "is no ELF file" : "has no symbols");
	}
	if (!s->id_size)
		return false;
	return try_by_id(&a) || try_cache(&a, s->places->cache, "/vmlinux") || try_cache(&a, s->places->symfs, "/vmlinux") ||
	       try_release(&a) || try_servers(&a);
}

/* How much of a name is in front of what says how the file is packed. */
static int bare_length(const char *name)
{
	static const char *const endings[] = {".xz", ".zst", ".gz"};
	size_t n = strlen(name), i;

	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (n > strlen(endings[i]) && !strcmp(name + n - strlen(endings[i]), endings[i]))
			return (int)(n - strlen(endings[i]));
	return (int)n;
}

bool search_object(struct search *s, struct elf *ret, char *path, bool (*wanted)(const struct elf *))
{
	struct attempt a = {.search = s, .elf = ret, .path = path, .wanted = wanted, .packed = true,
			    .proof = s->recorded_id ? BY_ID : BY_RECORDED_ID};
	const char *root = or_empty(s->places->symfs);
	int bare = bare_length(s->name);

	if (try_at(&a, "%s%s", root, s->name) || try_at(&a, "%s/usr/lib/debug%.*s", root, bare, s->name) ||
	    try_at(&a, "%s/usr/lib/debug%.*s.debug", root, bare, s->name))
		return true;
	return try_by_id(&a) || try_cache(&a, s->places->symfs, "/elf") || try_servers(&a);
}

/* ---- files that debug information is spread over ------------------------------------------------------------ */

/* The way that number @number stands for, in @to; false: there are no more. */
static bool package_path(const struct search *s, unsigned number, char *to, size_t size)
{
	const char *base = number == 0 ? s->mapped_path : s->debug_path;
	size_t length = base ? strlen(base) : 0;

	to[0] = 0;
	if (number > 2)
		return false;
	if (number == 2 && length > 6 && !strcmp(base + length - 6, ".debug"))
		snprintf(to, size, "%.*s.dwp", (int)(length - 6), base);
	else if (number < 2 && base)
		snprintf(to, size, "%s.dwp", base);
	return true;
}

static bool split_path(const struct search *s, const struct dwarf_wish *wish, char *to, size_t size)
{
	const char *root = or_empty(s->places->symfs), *base = strrchr(wish->name, '/');
	const char *beside = s->mapped_path ? s->mapped_path : s->name;
	bool full = wish->name[0] == '/';

	to[0] = 0;
	switch (wish->number) {
	case 0: /* where the compiler put it */
		if (full)
			snprintf(to, size, "%s%s", root, wish->name);
		else if (wish->folder)
			snprintf(to, size, "%s%s/%s", root, wish->folder, wish->name);
		return true;
	case 1: /* moved with the program */
		if (!full)
			snprintf(to, size, "%.*s/%s", folder_length(beside), beside, wish->name);
		return true;
	case 2:
		snprintf(to, size, "%.*s/%s", folder_length(beside), beside, base ? base + 1 : wish->name);
		return true;
	default:
		return false;
	}
}

static bool supplement_path(const struct search *s, const struct dwarf_wish *wish, char *to, size_t size)
{
	const char *root = or_empty(s->places->symfs), *base = strrchr(wish->name, '/');
	const char *beside = s->debug_path ? s->debug_path : s->mapped_path;
	char id[41];

	to[0] = 0;
	hex(wish->id.data, wish->id.size, id);
	switch (wish->number) {
	case 0:
		if (wish->id.size >= 2)
			snprintf(to, size, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", root, id, id + 2);
		return true;
	case 1:
		if (wish->name[0] == '/')
			snprintf(to, size, "%s%s", root, wish->name);
		else if (beside)
			snprintf(to, size, "%.*s/%s", folder_length(beside), beside, wish->name);
		return true;
	case 2: /* a debug file in the folder of build-ids is mostly a symbolic link to its place */
		if (wish->name[0] != '/' && beside && source_real_path(beside, to, size))
			snprintf(strrchr(to, '/') + 1, size - (size_t)(strrchr(to, '/') + 1 - to), "%s", wish->name);
		return true;
	case 3:
		snprintf(to, size, "%s/usr/lib/debug/.dwz/%s", root, base ? base + 1 : wish->name);
		return true;
	default:
		return false;
	}
}

bool search_other(void *search, struct elf *ret, struct dwarf_wish *wish)
{
	const struct search *s = search;
	bool more;

	do {
		if (wish->kind == DWARF_PACKAGE)
			more = package_path(s, wish->number, wish->path, sizeof(wish->path));
		else if (wish->kind == DWARF_SPLIT)
			more = split_path(s, wish, wish->path, sizeof(wish->path));
		else
			more = supplement_path(s, wish, wish->path, sizeof(wish->path));
		wish->number++;
		if (more && wish->path[0] && elf_open(ret, wish->path) == 0)
			return true;
	} while (more);
	return false;
}
