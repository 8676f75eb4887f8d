/* SPDX-License-Identifier: MIT */
/* Sections of tracing data: any bytes give formats, or none, and no view leaves them. The input is the section. */
#include "fuzz.h"

#include <perfev/feature.h>
#include <perfev/tracepoint.h>

static void inside(struct perfev_bytes section, struct perfev_bytes view)
{
	const uint8_t *from = section.data, *at = view.data;

	if (!view.size)
		return;
	if (at < from || view.size > section.size || (size_t)(at - from) > section.size - view.size)
		abort();
	touch(view.data, view.size);
}

static void inside_text(struct perfev_bytes section, const char *text)
{
	struct perfev_bytes view = {text, strlen(text) + 1};

	if (strcmp(text, "ftrace"))
		inside(section, view);
}

static void use(struct perfev_bytes section, const struct perfev_tracing *tracing,
		const struct perfev_tracing_format *format)
{
	struct perfev_tracepoint_opts opts = {sizeof(opts), format->system, tracing->swapped, 0};
	struct perfev_tracepoint *tp;

	inside(section, format->text);
	inside_text(section, format->system);
	if (perfev_tracepoint_parse(&tp, format->text, &opts, NULL) < 0)
		return;
	perfev_tracepoint_format(NULL, 0, tp, section);
	perfev_tracepoint_free(tp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_bytes section = {data, size};
	struct perfev_tracing_format format;
	struct perfev_tracing tracing;
	struct perfev_error err;
	size_t formats = 0;
	int r;

	if (perfev_feature_tracing(&tracing, section, &err) < 0) {
		if (!err.text[0] || perfev_feature_tracing_next(&tracing, &format, NULL))
			abort();
		return 0;
	}
	inside_text(section, tracing.version);
	inside(section, tracing.header_page);
	inside(section, tracing.header_event);
	while ((r = perfev_feature_tracing_next(&tracing, &format, &err)) > 0) {
		if (++formats > size / 8)
			abort();
		use(section, &tracing, &format);
	}
	if (r == 0) {
		inside(section, tracing.kallsyms);
		inside(section, tracing.printk_formats);
		inside(section, tracing.saved_cmdlines);
	}
	if (perfev_feature_tracing_next(&tracing, &format, NULL))
		abort(); /* the end stays the end */
	return 0;
}
