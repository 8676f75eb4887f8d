/* SPDX-License-Identifier: MIT */
/* What the files of the command share. It uses the library through <perfev/...> only. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <perfev/perfev.h>

#include <stdio.h>

/* Exit codes; docs/man/perfev.1.scd says the same to users. */
#define EXIT_DONE   0
#define EXIT_FAILED 1 /* the work failed: one line on stderr says why */
#define EXIT_USAGE  2 /* the command line is wrong */
#define EXIT_NO_RUN 126
#define EXIT_NO_CMD 127

/* ---- options.c: command lines ------------------------------------------------------------------ */

enum option_kind {
	OPTION_FLAG,  /* bool */
	OPTION_TEXT,  /* const char * */
	OPTION_MAYBE, /* const char *, as in --name=TEXT; "" for --name alone */
	OPTION_COUNT, /* uint64_t, decimal */
	OPTION_LIST,  /* struct texts: given more than once */
	OPTION_FILTER, /* struct texts: for the last one given */
	OPTION_LATER, /* not built yet: says so */
	OPTION_LATER_TEXT /* the same, with an argument */
};

struct option_row {
	char letter;	      /* 0: none */
	const char *name;     /* NULL: none */
	const char *argument; /* what --help calls it; NULL for a flag */
	const char *help;
	enum option_kind kind;
	void *value;
};

struct texts {
	const char **items;
	size_t count;
	const char **filters; /* of the first filter_count items; NULL: none */
	size_t filter_count;
};

/* Forgets what was gathered. */
void texts_free(struct texts *texts);

struct command_line {
	const char *command;	/* "stat" */
	const char *synopsis;	/* after "perfev stat " */
	const char *description; /* for --help */
	const struct option_row *options;
	size_t option_count;
	bool takes_command; /* options end at the first word that is none */
	/* set by parse_options(): */
	int argc;	    /* the words that are no options */
	char **argv;
	bool has_dashes; /* "--" was there */
};

/* Returns -1 to go on, or the exit code: help was printed, or the line is wrong. */
int parse_options(struct command_line *line, int argc, char **argv);
/* A wrong command line: prints "perfev COMMAND: ..." and returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) PERFEV_PRINTF(2, 3);
/* A failure: prints "perfev: " and the error's text, and returns EXIT_FAILED. */
int report_error(const struct perfev_error *err);
/* Writes out what was printed so far. False: it cannot be, as when nobody reads a pipe any more. */
bool flush_output(FILE *out);
/* The errno of a flush that failed, or 0. */
int output_error(void);
/* Closes a file. Returns 0, or the errno of the first write that failed. */
int end_output(FILE *out);
/* A remark on stderr, "perfev: ...", one line whatever names are in it. */
void note(const char *format, ...) PERFEV_PRINTF(1, 2);
/* "cannot VERB NAME: " and what @error is, and helps against it. Returns EXIT_FAILED. */
int file_failed(const char *verb, const char *name, int error);
/* The same, of memory. */
int out_of_memory(void);

/* ---- session.c: what is measured ------------------------------------------------------------------ */

struct session {
	struct texts pids, tids;
	struct texts cgroups; /* -G */
	const char *cpus; /* -C */
	bool all_cpus;	  /* -a */
	char **command;	  /* NULL: none */
	/* set by session_open(): */
	struct perfev_target on;
	int32_t *ids, *cpu_list; /* of cgroups: descriptors */
	bool is_command; /* the target is the command itself */
};

int session_open(struct session *session, const struct command_line *line);
void session_close(struct session *session);
/* Whether all tasks of -p or -t have ended. */
bool session_ended(const struct session *session);
/* "'true'", "process 812", "all CPUs": what to call it. */
void session_name(const struct session *session, char *to, size_t size);

/* ---- child.c: the command that is measured ---------------------------------------------------------- */

struct child {
	int pid; /* 0: none */
	int go;	 /* descriptor: close it, and the child begins */
	int failed; /* descriptor: the errno of a failed exec comes out of it */
	int status; /* of wait4(2) */
	uint64_t user_ns, system_ns; /* when it has ended: its time on CPUs, children included */
	bool ended;
};

/* Returns 0, or the error that running the command will have. */
int child_find(char **command);
/* Makes the child, which waits before it executes. @stdout_to_stderr: results go to our stdout. */
int child_start(struct child *child, char **command, bool stdout_to_stderr);
/* Says that the command could not be started. Returns the exit code for it. */
int child_refused(char **command, int error);
/* Lets it begin. Returns 0, or the errno of exec. */
int child_go(struct child *child);
/* Looks whether it has ended; @block waits. */
void child_look(struct child *child, bool block);
void child_kill(struct child *child);
/* The exit code that stands for how it ended. */
int child_exit_code(const struct child *child);

/* Signals: from watch_signals() on SIGINT, SIGTERM and SIGCHLD come out of a descriptor. */
int watch_signals(void);
void unwatch_signals(int fd);
/* Takes what came; @child (or NULL) gets it too. Returns whether the user asked to stop. */
bool take_signals(int fd, const struct child *child);
/* Sleeps until @fd (or -1) or @signals has something, or @timeout_ms. */
void wait_for(int fd, int signals, int timeout_ms);

/* ---- events.c ------------------------------------------------------------------------------------------ */

/* Events of -e options, or of @defaults when there are none. Returns 0, or an exit code. */
int parse_events(struct perfev_events **ret, const char *command, const struct texts *texts,
		 const char *defaults);
/* Raises the limit of open files as far as this user may. */
void raise_file_limit(void);
/* Undoes that, for a child. */
void restore_file_limit(void);

/* ---- recorder.c: rings to a file -------------------------------------------------------------------------- */

/* recorder_files.c */
struct recorder_files {
	const char *path; /* as it was given */
	char name[4096];  /* of the file that is written */
	bool compress;
	uint32_t sync;	       /* enum perfev_sync */
	uint64_t switch_bytes; /* 0: does not matter */
	int64_t switch_ms, opened_ms;
	uint64_t last_stamp, bytes, count; /* bytes and number of those that were finished */
};

/* Files that were mapped: what their mappings say of them. */
struct mapped_file {
	char *name;
	uint64_t ino;
	uint8_t id[20], id_size; /* 0: not said */
	bool kernel; /* a module of it */
};

struct mapped_files {
	struct mapped_file *items;
	size_t count, room;
	bool by_kernel; /* mappings have build-ids where their files have */
};

struct recorder {
	struct recorder_files files;
	struct perfev_sampler *sampler;
	struct perfev_tracer *tracer; /* NULL: nothing is traced; else the sampler is its */
	char traced[64];	      /* the PMU */
	struct perfev_writer *writer;
	struct session *session;
	const char *path;
	int argc;
	char **argv;
	uint64_t *told; /* of each id: losses that files have */
	uint64_t *left; /* of each event: how many samples are still wanted (nr=); NULL: all */
	uint64_t samples, rounds;
	uint64_t traces;  /* pieces of traces */
	uint64_t drained; /* bytes of the last pass */
	bool overflowed;  /* a ring was full */
	bool started;	  /* its events are on */
	uint64_t first_time, last_time; /* of samples, ns */
	struct mapped_files mapped;
};

/* trace_info.c: whether a PMU writes traces; what is in AUXTRACE_INFO for them: how many words, 0 where there is none */
#define TRACE_INFO_WORDS 8000 /* as many as fit into a record */
bool is_traced(const char *pmu);
size_t trace_info(const char *name, const struct perf_event_attr *attr, const struct perfev_sampler_id *id, uint64_t *words,
		  uint32_t *type);

/* trace_record.c: the recorder's sampler, or its tracer; bytes of traces */
int trace_open(struct recorder *r, const struct perfev_event *const *events, size_t count, struct perfev_target on,
	       const struct perfev_sampler_opts *how, struct perfev_error *err);
void trace_close(struct recorder *r);
int trace_start(struct recorder *r, struct perfev_error *err);
int trace_stop(struct recorder *r, struct perfev_error *err);
int trace_next(struct recorder *r, struct perfev_chunk *ret, struct perfev_error *err);
void trace_release(struct recorder *r);
int trace_write_info(struct recorder *r, struct perfev_error *err);
void trace_summarize(const struct recorder *r);
int trace_write(struct recorder *r, const struct perfev_chunk *chunk, struct perfev_error *err);

/* recorder_ids.c: of a mapping. Return: 0, -ENOMEM. */
int ids_note(struct mapped_files *files, const struct perfev_record *record, const struct perfev_layout *layout);
/* The section of build-ids. */
int ids_write(const struct mapped_files *files, struct perfev_writer *writer, struct perfev_error *err);
void ids_free(struct mapped_files *files);

/* A record of the command's own, at once: @bytes begin with room for its header. */
int trace_append(struct recorder *r, unsigned char *bytes, uint32_t type, size_t size, struct perfev_error *err);
/* What -o, --html, --switch-output and --sync say; NULL: nothing. Returns 0, or an exit code. */
int check_files(struct recorder_files *files, const char *output, const char *html, const char *when, const char *sync);
/* The first file. The next one, when it is time for it. */
int recorder_open(struct recorder *recorder, struct perfev_error *err);
int recorder_switch(struct recorder *recorder, struct perfev_error *err);
/* How long until then; -1: for ever. Bytes of all files. */
int recorder_wait_ms(const struct recorder *recorder);
uint64_t recorder_bytes(const struct recorder *recorder);
int recorder_begin(struct recorder *recorder, struct perfev_error *err);
/* One pass over all rings. Returns 1 when something was written, 0, or < 0. */
int recorder_drain(struct recorder *recorder, struct perfev_error *err);
int recorder_finish(struct recorder *recorder, struct perfev_error *err);
void recorder_free(struct recorder *recorder);

/* ---- replay.c: a recording in the order of time ------------------------------------------------------------- */

struct replay_opts {
	const char *path, *symfs, *kallsyms, *vmlinux;
	struct texts jitdumps; /* [PID:]FILE; not owned */
	bool partial; /* a damaged file is read as far as it goes */
	bool no_inline;
	bool debuginfod; /* missing debug files are fetched */
	bool coarse;  /* nameless places of a module need not be told apart */
};

struct replay {
	struct perfev_reader *reader;
	struct perfev_symbols *symbols; /* when a sample is told: what was mapped then */
	/* set by the user before replay_open(), if stacks are wanted: with the symbols they are made */
	struct perfev_stacks_opts *stacks_opts;
	struct perfev_stacks *stacks; /* for whoever is told the samples, to push them */
	struct perfev_unwinder *unwinder; /* made for the first sample that needs it */
	struct perfev_unwound unwound;	  /* of the last sample that was unwound */
	struct perfev_unwinder_info unwinding; /* of all samples, when replay_run() is done */
	struct perfev_order *order;
	struct perfev_deferred *deferred;
	struct replay_opts how;
	bool kernel_mapped; /* the recording says where the kernel was */
	uint64_t released;  /* up to where the recording was given back */
	/* set by the user before replay_run(): is told every sample; < 0 ends it */
	int (*sample)(void *context, const struct perfev_record *record, const struct perfev_layout *layout,
		      struct perfev_error *err);
	/* the same, or NULL: is told the records of counts, and of what they are */
	int (*count)(void *context, const struct perfev_record *record);
	/* the same, or NULL: is told each record of the kernel before the symbols are */
	int (*before)(void *context, const struct perfev_record *record, const struct perfev_layout *layout,
		      struct perfev_error *err);
	void *context;
};

/* What was asked for is used, or refused; not found later, sample by sample. Returns -1, or an exit code after it said why. */
int names_check(const char *symfs, const char *kallsyms, const char *vmlinux);
/* @replay: zero. To be closed also when it could not be opened. */
int replay_open(struct replay *replay, const struct replay_opts *how, struct perfev_error *err);
int replay_run(struct replay *replay, struct perfev_error *err);
/* The symbols before replay_run(), which makes them otherwise. */
int replay_symbols(struct replay *replay, struct perfev_error *err);
void replay_close(struct replay *replay);
/* replay_recorded.c: what is in sections of simpleperf */
void replay_feed_recorded(const struct replay *replay);
/* The user part of a sample's call chain, when it was recorded as registers and stack, or by the CPU. 1: it was put into the
 * chain, which then lives until the next call; 0: nothing is to be done. */
int replay_unwind(struct replay *replay, struct perfev_sample *sample, const struct perfev_layout *layout,
		  struct perfev_error *err);
/* The text of a feature section, or NULL. */
const char *replay_feature(const struct replay *replay, unsigned feature);

/* ---- heap.c: for commands that read a whole recording, before they allocate anything */
void heap_in_large_pages(void);

/* ---- graph.c: how call chains are recorded --------------------------------------------------------------------- */

struct graph {
	uint32_t how;	      /* PERFEV_GRAPH_* */
	uint32_t stack_bytes; /* 0: not said */
};

/* @how: what was said behind --call-graph, or NULL; @asked: -g was said. Return: 0, EXIT_USAGE. */
int graph_parse(struct graph *ret, const char *how, bool asked);
void graph_apply(const struct graph *graph, struct perf_event_attr *attr, const struct perfev_event_info *info);

/* ---- filter.c: which samples are looked at ----------------------------------------------------------------- */

struct filter {
	struct texts pids, tids, comms, events;
	const char *time, *cpus; /* --time, --cpu */
	uint64_t from, to;	 /* ns: set by filter_check() */
	int32_t *cpu_list;
	size_t cpu_count;
	bool by_sample; /* filter_passes() has something to look at */
};

/* The options of a filter. */
#define FILTER_ROWS(filter) \
	{0, "pid", "PID", "samples of this process only", OPTION_LIST, &(filter)->pids}, \
	{0, "tid", "TID", "samples of this thread only", OPTION_LIST, &(filter)->tids}, \
	{0, "comm", "NAME", "samples of threads of this name only", OPTION_LIST, &(filter)->comms}, \
	{0, "event", "NAME", "samples of this event only", OPTION_LIST, &(filter)->events}, \
	{0, "cpu", "LIST", "samples of these CPUs only, as in 0-3,8", OPTION_TEXT, &(filter)->cpus}, \
	{0, "time", "A,B", "samples from A to B only, in seconds of the recording's clock; either may be left out", \
	 OPTION_TEXT, &(filter)->time}

/* Returns -1 to go on, or an exit code. */
int filter_check(struct filter *filter, const char *command);
void filter_free(struct filter *filter);
bool passes_text(const struct texts *wanted, const char *text);
/* By pid, tid, CPU and time; what a sample does not say passes, but for a CPU and a time. */
bool filter_look_at(const struct filter *filter, const struct perfev_sample *sample);

/* Whether there are samples that do not pass. */
static inline bool filter_looks_at_samples(const struct filter *filter)
{
	return filter->by_sample;
}

static inline bool filter_passes(const struct filter *filter, const struct perfev_sample *sample)
{
	return !filter_looks_at_samples(filter) || filter_look_at(filter, sample);
}

/* Tells of events that were asked for by a name which the recording does not have. */
void filter_look(const struct filter *filter, const struct perfev_reader *reader, const char *const *more);

/* ---- load.c: a recording to a profile ---------------------------------------------------------------------- */

struct missing {
	const char *module, *why;
	uint64_t samples;
};

struct loaded {
	struct replay replay;
	struct perfev_profile *profile;
	struct missing *missing;
	size_t missing_count;
	uint64_t samples;    /* that passed the filter */
	uint64_t all_samples; /* in the file */
	uint64_t first_time, last_time;
	struct perfev_loss loss;
	uint64_t late;
	struct perfev_deferred_info deferred;
};

struct load_opts {
	const char *path, *symfs, *kallsyms, *vmlinux;
	struct texts jitdumps;
	const struct filter *filter;
	bool no_inline, debuginfod, flat; /* flat: no call trees */
	uint32_t jobs; /* 0: one for each CPU */
};

/* Returns 0, or an exit code after it said why. */
int load_profile(struct loaded *ret, const struct load_opts *opts);
void loaded_free(struct loaded *loaded);

/* ---- html: the page of a loaded profile, to a file */
int write_html(const struct loaded *loaded, const char *path);

/* ---- dump_records.c, dump_header.c: each returns what the reader did, < 0 with an error */

/* @packets: how many are shown below an AUXTRACE record. */
int dump_records(struct perfev_reader *reader, bool json, uint64_t packets, struct perfev_error *err);
int dump_header(struct perfev_reader *reader, struct perfev_error *err);

/* ---- dump_info.c: what an AUXTRACE_INFO record says: a line, or a member of an object */
void dump_info(const struct perfev_auxtrace_info *info, bool json);

/* ---- dump_jit.c: files of JIT compilers, instead of recordings. Returns an exit code. */

bool is_jitdump(const char *path);
int dump_jit(const char *path, bool stats, bool header, bool json, bool partial);

/* ---- dump_trace.c: packets of the traces in AUXTRACE records and samples */

struct trace;

/* @limit: packets that are shown of each record. */
struct trace *trace_new(uint64_t limit);
void trace_free(struct trace *trace);
/* To be told every record: prints what is in it, if it is a piece of a trace. As lines; as a member of an object. */
void trace_text(struct trace *trace, const struct perfev_record *record, const struct perfev_layout *layout);
void trace_json(struct trace *trace, const struct perfev_record *record, const struct perfev_layout *layout);

/* ---- spool.c: a recording that has to be read twice ------------------------------------------------------------- */

/* Of one that can be read once, standard input or a pipe, a copy, whose path is put into @room: it stays open. Returns -1 to go
 * on, or an exit code. */
int spool(const char **path, char room[32]);

/* ---- script_itrace.c: which of what traces tell is printed ------------------------------------------------------- */

struct itrace_opts {
	const char *what; /* letters: b all branches, c calls, r returns, x transactions, w PTWRITE, p power, e gaps; "": cexwp;
			     NULL: not asked for */
	bool none;	  /* nothing */
	bool json;
	const struct filter *filter;
};
int itrace_check(const struct itrace_opts *opts);

/* ---- json.c ---------------------------------------------------------------------------------------------------- */

struct stat_row; /* below */
struct stat_result;

void json_stat(FILE *out, const struct stat_result *result);
void json_report(FILE *out, const struct loaded *loaded, const struct perfev_function *functions,
		 size_t count, size_t limit);
/* A text in quotes, with what is no UTF-8 replaced. */
void json_string(FILE *out, const char *text);
void json_doctor(FILE *out);
void json_listed_event(FILE *out, const struct perfev_listed_event *event);
/* All PMUs, separated by commas. */
void json_pmus(FILE *out);

/* ---- print.c, text_stat.c, text_report.c: everything for people ------------------------------------------------- */

void text_stat(FILE *out, const struct stat_result *result, const char *what);
/* What a count means beside the others of its place: the number and its unit; "" when a part is missing. */
void stat_meaning(char number[32], char unit[48], const struct stat_result *result, const struct stat_row *row);
/* A line for each row, fields separated by @separator, as perf stat -x has them. */
void csv_stat(FILE *out, const struct stat_result *result, const char *separator);
struct report_text_opts {
	bool tree, no_children, color;
	size_t limit;
};
void text_report(FILE *out, const struct loaded *loaded, const char *path,
		 const struct report_text_opts *opts);
/* 1234567 as "1,234,567". */
const char *text_number(char to[32], uint64_t number);
/* 1234567 as "1.2 MB". */
const char *text_bytes(char to[32], uint64_t bytes);
/* Of an error's text what comes behind "cannot VERB OBJECT: ". */
const char *text_cause(const char *text);
/* A name, without what would steer a terminal. */
void text_name(FILE *out, const char *name);

struct stat_row {
	const char *event;
	size_t index;	  /* of the event */
	int32_t cpu, tid; /* -1: the sum of all */
	const struct perf_event_attr *attr;
	struct perfev_event_info info;
	struct perfev_reading total; /* over all runs; of a gauge, of the last */
	double mean, stddev;	     /* over runs, of the scaled count */
	char why[480];		     /* "" when it was counted */
	bool user_only;		     /* kernel code was left out, though it was asked for */
};

struct stat_result {
	struct stat_row *rows;
	size_t count;
	bool per_cpu, per_thread;
	bool interval;	  /* a part of the time, which ended at: */
	bool last;	  /* the last of them */
	uint64_t time_ns; /* from the start */
	uint64_t elapsed_ns; /* mean of the runs */
	double elapsed_stddev_ns;
	uint64_t runs;
	int command_status;
	bool has_command;
};

/* ---- text_doctor.c */
void text_doctor(FILE *out);

/* ---- progress.c ------------------------------------------------------------------------------------------------------ */

/* A line that tells how far long work is; only on a terminal, and only when it takes a while. */
struct progress {
	const char *what;
	bool on, shown;
	int64_t started_ms, last_ms;
};

void progress_begin(struct progress *progress, const char *what);
/* @total 0: not known. */
void progress_at(struct progress *progress, uint64_t done, uint64_t total);
void progress_end(struct progress *progress);
int64_t now_ms(void);

/* ---- the sub-commands ---------------------------------------------------------------------------------------------------- */

int cmd_stat(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_fix(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_list(int argc, char **argv);

#endif
