/* SPDX-License-Identifier: MIT */
/* stacks.h: the stacks of a recording, with names, by two threads: name_stacks FILE prints the functions of each sample,
 * outermost first. */
#include <perfev/order.h>
#include <perfev/reader.h>
#include <perfev/stacks.h>
#include <stdio.h>

static int print_stack(void *symbols, const struct perfev_stack *stack, struct perfev_error *err)
{
	struct perfev_frame frame;

	(void)err;
	printf("%s", stack->comm);
	for (uint32_t i = stack->count; i-- > 0;)
		if (perfev_symbols_frame(symbols, stack->keys[i], &frame))
			printf(";%s", frame.symbol ? frame.symbol : frame.module);
	printf("\n");
	return 0;
}

/* Whatever may go now, in the order of time. */
static int push_ready(struct perfev_order *order, struct perfev_reader *reader, struct perfev_stacks *stacks,
		      struct perfev_error *err)
{
	struct perfev_record record;
	int r = 0;

	while (r >= 0 && perfev_order_next(order, &record) > 0)
		r = perfev_stacks_push(stacks, &record, perfev_reader_layout(reader, &record), 0, err);
	return r;
}

int main(int argc, char **argv)
{
	struct perfev_stacks_opts opts = {.size = sizeof(opts), .jobs = 2, .take = print_stack};
	struct perfev_reader *reader = NULL;
	struct perfev_order *order = NULL;
	struct perfev_symbols *symbols = NULL;
	struct perfev_stacks *stacks = NULL;
	struct perfev_record record;
	struct perfev_error err;
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: name_stacks FILE\n");
		return 2;
	}
	r = perfev_reader_open(&reader, argv[1], NULL, &err);
	if (r == 0)
		r = perfev_order_new(&order, NULL, &err);
	if (r == 0)
		r = perfev_symbols_new(&symbols, NULL, &err);
	opts.context = symbols;
	if (r == 0)
		r = perfev_stacks_new(&stacks, symbols, &opts, &err);
	while (r == 0 && (r = perfev_reader_next(reader, &record, &err)) > 0) {
		r = perfev_order_push(order, &record, perfev_reader_layout(reader, &record), &err);
		if (r == 0)
			r = push_ready(order, reader, stacks, &err);
	}
	if (r == 0)
		r = perfev_order_end(order, &err);
	if (r == 0)
		r = push_ready(order, reader, stacks, &err);
	if (r == 0)
		r = perfev_stacks_wait(stacks, &err);
	if (r < 0)
		fprintf(stderr, "%s\n", err.text);
	perfev_stacks_free(stacks);
	perfev_symbols_free(symbols);
	perfev_order_free(order);
	perfev_reader_close(reader);
	return r < 0;
}
