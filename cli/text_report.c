/* SPDX-License-Identifier: MIT */
/* What perfev report prints. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- report ------------------------------------------------------------------------------------------ */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole * 100 : 0;
}

static void put_header(FILE *out, const struct loaded *l, const char *path)
{
	static const struct {
		unsigned feature;
		const char *name;
	} texts[] = {{PERFEV_FEATURE_HOSTNAME, "host"},
		     {PERFEV_FEATURE_OSRELEASE, "kernel"},
		     {PERFEV_FEATURE_CPUDESC, "CPU"}};
	char number[32], lost[32];
	size_t i;

	fputs("# ", out);
	text_name(out, path);
	fprintf(out, ": %s samples", text_number(number, l->samples));
	if (l->last_time > l->first_time)
		fprintf(out, " over %.3f s", (double)(l->last_time - l->first_time) / 1e9);
	if (l->all_samples != l->samples)
		fprintf(out, " (of %s, by the filter)", text_number(number, l->all_samples));
	fprintf(out, ", %s%s lost\n", l->loss.records && !l->loss.exact ? "at least " : "",
		text_number(lost, l->loss.records));
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *text = replay_feature(&l->replay, texts[i].feature);

		if (!text)
			continue;
		fprintf(out, "# %s: ", texts[i].name);
		text_name(out, text);
		fputc('\n', out);
	}
	if (l->loss.samples)
		fprintf(out, "# %s samples were lost before they came to a ring\n",
			text_number(number, l->loss.samples));
	if (l->late)
		fprintf(out, "# %s records came late, and are out of order\n",
			text_number(number, l->late));
	if (l->deferred.alone)
		fprintf(out, "# %s samples are without the user part of their call chain, which did not come\n",
			text_number(number, l->deferred.alone));
}

/* Processes whose code was made at run time have a module each: those that lack the same are one line. */
static bool is_same_lack(const struct missing *a, const struct missing *b)
{
	return a == b || (!strncmp(a->module, "/tmp/perf-", 10) && !strncmp(b->module, "/tmp/perf-", 10) && !strcmp(a->why, b->why));
}

static void put_missing_of(FILE *out, const struct loaded *l, size_t from)
{
	uint64_t samples = 0;
	size_t processes = 0, i;
	char number[32];

	for (i = from; i < l->missing_count; i++)
		if (is_same_lack(&l->missing[from], &l->missing[i])) {
			samples += l->missing[i].samples;
			processes++;
		}
	fprintf(out, "#  %10s samples in ", text_number(number, samples));
	text_name(out, l->missing[from].module);
	if (processes > 1)
		fprintf(out, " and those of %zu more processes", processes - 1);
	fprintf(out, ": %s\n", l->missing[from].why);
}

static void put_missing(FILE *out, const struct loaded *l)
{
	size_t told[10], count = 0, more = 0, i, k;

	if (!l->missing_count)
		return;
	fputs("#\n# without a name:\n", out);
	for (i = 0; i < l->missing_count; i++) {
		for (k = 0; k < count && !is_same_lack(&l->missing[told[k]], &l->missing[i]);)
			k++;
		if (k == 10)
			more++;
		if (k < count || k == 10)
			continue;
		told[count++] = i;
		put_missing_of(out, l, i);
	}
	if (more)
		fprintf(out, "#  and in %zu more modules\n", more);
}

/* Debug information that is there, but for a part of it that is in another file. */
static void put_incomplete(FILE *out, const struct loaded *l)
{
	struct perfev_module_info info;
	uint32_t i, n = 0;

	for (i = 0; perfev_symbols_module(l->replay.symbols, i, &info); i++) {
		if (!info.debug_why || ++n > 10)
			continue;
		fputs(n == 1 ? "#\n# debug information is not complete:\n#  " : "#  ", out);
		text_name(out, info.name);
		fputs(": ", out);
		text_name(out, info.debug_why);
		fputc('\n', out);
	}
	if (n > 10)
		fprintf(out, "#  and of %" PRIu32 " more modules\n", n - 10);
}

static const char *short_module(const char *module)
{
	const char *base = module[0] == '[' ? NULL : strrchr(module, '/');

	return base && base[1] ? base + 1 : module;
}

static void put_functions(FILE *out, const struct loaded *l, int event, uint64_t samples,
			  const struct report_text_opts *opts)
{
	struct perfev_function *functions;
	struct perfev_error err;
	char self[32];
	size_t count, all, i;

	if (perfev_profile_top(l->profile, event, opts->limit, &functions, &count, &all, &err) < 0)
		return;
	fputs(opts->no_children ? "#\n#    self    samples   function\n"
				: "#\n#    self   total    samples   function\n",
	      out);
	for (i = 0; i < count; i++) {
		const struct perfev_function *f = &functions[i];

		if (opts->no_children && !f->self)
			break;
		fprintf(out, " %6.2f%%", percent(f->self, samples));
		if (!opts->no_children)
			fprintf(out, " %6.2f%%", percent(f->total, samples));
		fprintf(out, " %10s   %s", text_number(self, f->self),
			f->kind == PERFEV_KIND_KERNEL ? "[k] " : "");
		text_name(out, f->symbol);
		fputs("  (", out);
		text_name(out, short_module(f->module));
		fputs(")\n", out);
	}
	if (i < all)
		fprintf(out, "# %zu more; --limit N shows N\n", all - i);
	free(functions);
}

/* ---- the call tree --------------------------------------------------------------------------------------- */

struct tree {
	const struct perfev_profile *profile;
	struct perfev_profile_node *nodes;
	uint32_t *first, *next; /* children, largest first */
	size_t count;
	uint64_t whole;
};

static const struct tree *sorted_tree;

static int larger_first(const void *a_, const void *b_)
{
	uint32_t a = *(const uint32_t *)a_, b = *(const uint32_t *)b_;
	uint64_t x = sorted_tree->nodes[a].total, y = sorted_tree->nodes[b].total;

	if (x != y)
		return x < y ? 1 : -1;
	return (a > b) - (a < b);
}

static bool is_shown(const struct tree *t, uint32_t node)
{
	return percent(t->nodes[node].total, t->whole) >= 0.5;
}

/* Children lists, by going through all nodes that are shown from the smallest to the largest: what is below others that are not
 * is smaller. */
static bool link_children(struct tree *t)
{
	uint32_t *order = malloc((t->count + 1) * sizeof(*order)), i, n = 0;

	t->first = malloc((t->count + 1) * sizeof(*t->first));
	t->next = malloc((t->count + 1) * sizeof(*t->next));
	if (!order || !t->first || !t->next) {
		free(order);
		return false;
	}
	for (i = 0; i < t->count; i++) {
		if (is_shown(t, i))
			order[n++] = i;
		t->first[i] = t->next[i] = UINT32_MAX;
	}
	sorted_tree = t;
	qsort(order, n, sizeof(*order), larger_first);
	for (i = n; i-- > 0;) {
		uint32_t node = order[i], parent = t->nodes[node].parent;

		if (parent == node)
			continue;
		t->next[node] = t->first[parent];
		t->first[parent] = node;
	}
	free(order);
	return true;
}

static void put_tree_line(FILE *out, const struct tree *t, uint32_t node, int depth)
{
	fprintf(out, " %6.2f%% %*s", percent(t->nodes[node].total, t->whole), depth * 2, "");
	text_name(out, perfev_profile_label(t->profile, t->nodes[node].frame));
	if (t->nodes[node].self)
		fprintf(out, "  [self %.2f%%]", percent(t->nodes[node].self, t->whole));
	fputc('\n', out);
}

/* Depth first, without recursion: stacks may be deep. Branches under half a percent are left out. */
static void put_subtree(FILE *out, const struct tree *t, uint32_t root)
{
	uint32_t node = t->first[root];
	int depth = 0;

	while (node != UINT32_MAX) {
		put_tree_line(out, t, node, depth);
		if (t->first[node] != UINT32_MAX) {
			node = t->first[node];
			depth++;
			continue;
		}
		while (node != root && t->next[node] == UINT32_MAX) {
			node = t->nodes[node].parent;
			depth--;
		}
		if (node == root)
			return;
		node = t->next[node];
	}
}

static void put_tree(FILE *out, const struct loaded *l, size_t event)
{
	struct perfev_profile_event_info info;
	struct perfev_error err;
	struct tree t = {.profile = l->profile};

	if (!perfev_profile_event_at(l->profile, event, &info) ||
	    perfev_profile_nodes(l->profile, &t.nodes, &t.count, &err) < 0)
		return;
	t.whole = info.samples;
	fputs("#\n# call tree: total, function [self]; branches under 0.5% are left out\n", out);
	if (link_children(&t))
		put_subtree(out, &t, info.root);
	free(t.nodes);
	free(t.first);
	free(t.next);
}

void text_report(FILE *out, const struct loaded *loaded, const char *path,
		 const struct report_text_opts *opts)
{
	struct perfev_profile_event_info info;
	char number[32], weight[32];
	size_t i;

	put_header(out, loaded, path);
	put_missing(out, loaded);
	put_incomplete(out, loaded);
	for (i = 0; perfev_profile_event_at(loaded->profile, i, &info); i++) {
		fputs("#\n# event ", out);
		text_name(out, info.name);
		fprintf(out, ": %s samples, about %s events\n", text_number(number, info.samples),
			text_number(weight, info.weight));
		if (!info.samples)
			continue;
		put_functions(out, loaded, (int)i, info.samples, opts);
		if (opts->tree)
			put_tree(out, loaded, i);
	}
}
