/* SPDX-License-Identifier: MIT */
/*
 * The program that the demo profiles: honest work on a real source tree, with threads and a child.
 *
 *	demo-work DIR [SECONDS]
 *
 * One thread compresses every file (LZ77 with hash chains, then Huffman lengths), and checks that it can
 * be restored; another searches all files for a list of words; a child process counts how often each word
 * of the tree occurs, and sorts the counts. Rounds go on until the time is over.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE  __attribute__((noinline))
#define FILES_MAX 4096
#define FILE_MAX  (1 << 20)
#define WINDOW	  32768
#define HASH_SIZE 32768
#define MATCH_MIN 4
#define MATCH_MAX 258

struct text {
	unsigned char *data;
	size_t size;
};

static struct text files[FILES_MAX];
static size_t file_count;
static double seconds = 3;
static struct timespec started;

static int time_is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - started.tv_sec) +
		       (double)(now.tv_nsec - started.tv_nsec) / 1e9 > seconds;
}

/* ---- reading the tree ------------------------------------------------------------------------------- */

static void read_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	struct text *text = &files[file_count];

	if (!file)
		return;
	text->data = malloc(size + 1);
	if (text->data) {
		text->size = fread(text->data, 1, size, file);
		file_count++;
	}
	fclose(file);
}

static void read_tree(const char *folder, int depth)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat st;
	char path[4096];

	while (dir && (entry = readdir(dir)) && file_count < FILES_MAX) {
		if (entry->d_name[0] == '.' || !strncmp(entry->d_name, "build", 5) ||
		    !strcmp(entry->d_name, "node_modules"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < 16)
			read_tree(path, depth + 1);
		else if (S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size < FILE_MAX)
			read_file(path, (size_t)st.st_size);
	}
	if (dir)
		closedir(dir);
}

/* ---- compressing -------------------------------------------------------------------------------------- */

struct token {
	uint16_t length; /* 1: a byte as it is */
	uint16_t value;	 /* that byte, or the distance */
};

struct packer {
	int32_t head[HASH_SIZE];
	int32_t previous[FILE_MAX];
	struct token tokens[FILE_MAX];
	size_t token_count;
	uint32_t frequency[512];
};

static uint32_t hash_of(const unsigned char *at)
{
	uint32_t word;

	memcpy(&word, at, 4);
	return word * 2654435761u >> 17;
}

NOINLINE static size_t match_length(const unsigned char *a, const unsigned char *b, size_t max)
{
	size_t n = 0;

	while (n < max && a[n] == b[n])
		n++;
	return n;
}

NOINLINE static size_t find_match(const struct packer *p, const struct text *text, size_t at,
				  size_t *distance)
{
	size_t best = 0, max = text->size - at < MATCH_MAX ? text->size - at : MATCH_MAX;
	int32_t candidate = p->head[hash_of(text->data + at)];
	int tries;

	for (tries = 0; candidate >= 0 && tries < 32; tries++) {
		size_t n;

		if (at - (size_t)candidate > WINDOW)
			break;
		n = match_length(text->data + candidate, text->data + at, max);
		if (n > best) {
			best = n;
			*distance = at - (size_t)candidate;
		}
		candidate = p->previous[candidate];
	}
	return best;
}

static void remember(struct packer *p, const struct text *text, size_t at)
{
	uint32_t hash = hash_of(text->data + at);

	p->previous[at] = p->head[hash];
	p->head[hash] = (int32_t)at;
}

NOINLINE static void find_tokens(struct packer *p, const struct text *text)
{
	size_t at = 0, length, distance = 0, i;

	memset(p->head, 0xff, sizeof(p->head));
	p->token_count = 0;
	while (at < text->size) {
		struct token *token = &p->tokens[p->token_count++];

		length = at + MATCH_MIN < text->size ? find_match(p, text, at, &distance) : 0;
		if (length < MATCH_MIN)
			length = 1;
		token->length = (uint16_t)length;
		token->value = (uint16_t)(length == 1 ? text->data[at] : distance - 1);
		for (i = 0; i < length; i++, at++)
			if (at + MATCH_MIN < text->size)
				remember(p, text, at);
	}
}

/* The bits that a Huffman code would need, by joining the two rarest symbols again and again. */
NOINLINE static uint64_t huffman_bits(struct packer *p)
{
	uint64_t weights[512], bits = 0;
	size_t count = 0, i;

	memset(p->frequency, 0, sizeof(p->frequency));
	for (i = 0; i < p->token_count; i++)
		p->frequency[p->tokens[i].length == 1 ? p->tokens[i].value
						      : 256 + (p->tokens[i].length & 255)]++;
	for (i = 0; i < 512; i++)
		if (p->frequency[i])
			weights[count++] = p->frequency[i];
	while (count > 1) {
		size_t low = 0, next = 1;

		if (weights[1] < weights[0]) {
			low = 1;
			next = 0;
		}
		for (i = 2; i < count; i++) {
			if (weights[i] < weights[low]) {
				next = low;
				low = i;
			} else if (weights[i] < weights[next]) {
				next = i;
			}
		}
		weights[low] += weights[next];
		bits += weights[low];
		weights[next] = weights[--count];
	}
	return bits;
}

NOINLINE static int restore(const struct packer *p, const struct text *text)
{
	unsigned char *copy = malloc(text->size + MATCH_MAX);
	size_t at = 0, i, k;
	int same;

	if (!copy)
		return 0;
	for (i = 0; i < p->token_count; i++) {
		const struct token *token = &p->tokens[i];

		if (token->length == 1)
			copy[at++] = (unsigned char)token->value;
		else
			for (k = 0; k < token->length; k++, at++)
				copy[at] = copy[at - token->value - 1];
	}
	same = at == text->size && !memcmp(copy, text->data, at);
	free(copy);
	return same;
}

struct sums {
	uint64_t in, out, rounds;
	int wrong;
};

static void *compress_tree(void *sums_)
{
	struct sums *sums = sums_;
	struct packer *packer = malloc(sizeof(*packer));
	size_t i;

	while (packer && !time_is_over()) {
		for (i = 0; i < file_count && !time_is_over(); i++) {
			find_tokens(packer, &files[i]);
			sums->in += files[i].size;
			sums->out += huffman_bits(packer) / 8;
			sums->wrong += !restore(packer, &files[i]);
		}
		sums->rounds++;
	}
	free(packer);
	return NULL;
}

/* ---- searching --------------------------------------------------------------------------------------------- */

static const char *const needles[] = {"perf_event_open", "struct perfev_", "return", "uint64_t", "#include",
				      "memcpy", "nowhere_to_be_found"};

/* Horspool: skip by the byte under the needle's end. */
NOINLINE static size_t count_needle(const struct text *text, const char *needle)
{
	size_t size = strlen(needle), skip[256], at = 0, count = 0, i;

	for (i = 0; i < 256; i++)
		skip[i] = size;
	for (i = 0; i + 1 < size; i++)
		skip[(unsigned char)needle[i]] = size - 1 - i;
	while (at + size <= text->size) {
		if (!memcmp(text->data + at, needle, size))
			count++;
		at += skip[text->data[at + size - 1]];
	}
	return count;
}

static void *search_tree(void *found_)
{
	uint64_t *found = found_;
	size_t i, k;

	while (!time_is_over())
		for (i = 0; i < file_count; i++)
			for (k = 0; k < sizeof(needles) / sizeof(needles[0]); k++)
				*found += count_needle(&files[i], needles[k]);
	return NULL;
}

/* ---- the child: words and how often -------------------------------------------------------------------------- */

#define WORDS_MAX 65536

struct word {
	char text[32];
	uint32_t count;
};

static struct word *words;

static int is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

NOINLINE static void count_word(const unsigned char *at, size_t size)
{
	uint32_t hash = 2166136261u;
	size_t i;

	if (size >= sizeof(words->text))
		return;
	for (i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 16777619u;
	for (i = hash % WORDS_MAX; words[i].count; i = (i + 1) % WORDS_MAX)
		if (!memcmp(words[i].text, at, size) && !words[i].text[size])
			break;
	memcpy(words[i].text, at, size);
	words[i].count++;
}

NOINLINE static void count_words(const struct text *text)
{
	size_t at = 0, from;

	while (at < text->size) {
		while (at < text->size && !is_letter(text->data[at]))
			at++;
		for (from = at; at < text->size && is_letter(text->data[at]); at++)
			;
		if (at > from)
			count_word(text->data + from, at - from);
	}
}

static int by_count(const void *a, const void *b)
{
	uint32_t x = ((const struct word *)a)->count, y = ((const struct word *)b)->count;

	return (x < y) - (x > y);
}

static int child_main(void)
{
	size_t i;

	words = calloc(WORDS_MAX, sizeof(*words));
	while (words && !time_is_over()) {
		memset(words, 0, WORDS_MAX * sizeof(*words));
		for (i = 0; i < file_count; i++)
			count_words(&files[i]);
		qsort(words, WORDS_MAX, sizeof(*words), by_count);
	}
	if (words)
		printf("most frequent word: %s\n", words[0].text);
	free(words);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	struct sums sums = {0, 0, 0, 0};
	uint64_t found = 0;
	pthread_t threads[2];
	pid_t child;

	if (argc > 2)
		seconds = atof(argv[2]);
	clock_gettime(CLOCK_MONOTONIC, &started);
	read_tree(argc > 1 ? argv[1] : ".", 0);
	if (!file_count) {
		fprintf(stderr, "demo-work: no file in %s\n", argc > 1 ? argv[1] : ".");
		return 1;
	}
	child = fork();
	if (child == 0)
		_exit(child_main());
	pthread_create(&threads[0], NULL, compress_tree, &sums);
	pthread_create(&threads[1], NULL, search_tree, &found);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	waitpid(child, NULL, 0);
	printf("%zu files: %.1f MB compressed to %.1f MB, %d wrong; %llu words found\n", file_count,
	       (double)sums.in / 1e6, (double)sums.out / 1e6, sums.wrong, (unsigned long long)found);
	return sums.wrong != 0;
}
