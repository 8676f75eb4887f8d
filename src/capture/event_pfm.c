/* SPDX-License-Identifier: MIT */
/*
 * pfm:NAME - the names of libpfm4, which knows the events of CPUs that the kernel has no names for. The
 * library is loaded when such a name is met, and is not needed otherwise.
 */
#include "event_scan.h"

#include "base/error.h"
#include "base/library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY		 "libpfm.so.4"
#define PFM_SUCCESS	 0
#define PFM_PLM0	 0x01 /* kernel */
#define PFM_PLM3	 0x08 /* user */
#define PFM_OS_PERF_EVENT 1   /* without perf's own modifiers: ours follow */

/* The argument of pfm_get_os_event_encoding() for perf: libpfm 4.x, 64-bit and 32-bit alike. */
struct pfm_argument {
	struct perf_event_attr *attr;
	char **name;
	size_t size;
	int index, cpu, flags;
};

struct pfm {
	void *handle;
	int (*initialize)(void);
	int (*encode)(const char *text, int levels, int os, void *argument);
	const char *(*message)(int code);
};

/* A function is no object: its address is copied. */
static bool find(const struct pfm *pfm, const char *name, void *to)
{
	void *address = dlsym(pfm->handle, name);

	memcpy(to, &address, sizeof(address));
	return address != NULL;
}

static bool load(struct pfm *pfm)
{
	pfm->handle = library_open(LIBRARY);
	return pfm->handle && find(pfm, "pfm_initialize", &pfm->initialize) &&
	       find(pfm, "pfm_get_os_event_encoding", &pfm->encode) &&
	       find(pfm, "pfm_strerror", &pfm->message);
}

static int encode(struct scan *s, const struct pfm *pfm, const char *name, struct perfev_event *event)
{
	/* libpfm fills in what its own header knows, which may be newer than ours */
	union {
		struct perf_event_attr attr;
		unsigned char room[256];
	} out;
	struct pfm_argument argument = {&out.attr, NULL, sizeof(argument), 0, -1, 0};
	int r;

	memset(&out, 0, sizeof(out));
	r = pfm->initialize();
	if (r == PFM_SUCCESS)
		r = pfm->encode(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
	if (r != PFM_SUCCESS)
		return scan_error(s, s->at, PERFEV_WHY_UNKNOWN_EVENT, "libpfm4 does not take '%.80s': %.100s",
				  name, pfm->message(r));
	event->attr.type = out.attr.type;
	event->attr.config = out.attr.config;
	event->attr.config1 = out.attr.config1;
	event->attr.config2 = out.attr.config2;
	event->attr.precise_ip = out.attr.precise_ip;
	event->attr.exclude_user = out.attr.exclude_user;
	event->attr.exclude_kernel = out.attr.exclude_kernel;
	event->attr.exclude_hv = out.attr.exclude_hv && (out.attr.exclude_user || out.attr.exclude_kernel);
	return 0;
}

int scan_pfm(struct scan *s, size_t prefix)
{
	const char *text = s->text + s->at;
	size_t size = scan_trim(text + prefix, strcspn(text + prefix, ",{}"));
	struct perfev_event *event = event_blank();
	struct pfm pfm = {.handle = NULL};
	char name[256];
	int r = -ENOMEM;

	if (!event)
		return error_memory(s->err);
	if (size >= sizeof(name)) {
		r = scan_syntax(s, s->at, "a name of this length");
	} else if (!load(&pfm)) {
		r = error_set(s->err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, s->at + 1,
			      "cannot parse event '%.150s': libpfm4 is not installed (%s), or this program is "
			      "linked statically; install it (Debian: libpfm4), or use a name that perfev list shows",
			      s->text, LIBRARY);
	} else {
		memcpy(name, text + prefix, size);
		name[size] = 0;
		r = encode(s, &pfm, name, event);
	}
	if (pfm.handle)
		dlclose(pfm.handle);
	if (r < 0) {
		perfev_event_free(event);
		return r;
	}
	s->at += prefix + size;
	return scan_put(s, event, "%.*s", (int)(prefix + size), text);
}
