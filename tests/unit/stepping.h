/* SPDX-License-Identifier: MIT */
/*
 * What a program really did, instruction by instruction: it is stepped with ptrace(2) from one INT3 to the next, and each
 * place noted. What is a branch is told by the bytes of the instruction, with a reader of opcodes that knows only those.
 */
#ifndef TESTS_STEPPING_H
#define TESTS_STEPPING_H

#include "test.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS_MAX 2000000

/* An instruction that ran. */
struct step {
	uint64_t ip;
	uint8_t type;	  /* enum perfev_flow_type; NONE: no branch */
	bool indirect;	  /* where it goes is not in the instruction */
	uint8_t size;	  /* of a conditional jump */
	uint64_t after;	  /* of a call: where it will return to */
};

struct stepped {
	struct step *steps; /* the last one is where it ended */
	size_t count;
	int pid;
	struct {
		uint64_t start, end, offset;
		char name[512];
	} maps[32];
	size_t map_count;
};

static inline void read_maps(struct stepped *s)
{
	char path[64], line[1024];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", s->pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (s->map_count < 32 && fgets(line, sizeof(line), file)) {
		unsigned long long start, end, offset;
		char perms[8];
		int at = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &start, &end, perms, &offset, &at) < 4 || perms[2] != 'x' ||
		    !at || !line[at])
			continue;
		s->maps[s->map_count].start = start;
		s->maps[s->map_count].end = end;
		s->maps[s->map_count].offset = offset;
		snprintf(s->maps[s->map_count++].name, sizeof(s->maps[0].name), "%s", line + at);
	}
	fclose(file);
}

#ifdef __x86_64__

/* What an instruction is, by its first bytes. */
static inline void classify(struct step *step, const unsigned char *b)
{
	unsigned i = 0;

	step->type = PERFEV_FLOW_NONE;
	step->indirect = false;
	while (b[i] == 0x66 || b[i] == 0xf2 || b[i] == 0xf3 || b[i] == 0x2e || b[i] == 0x3e)
		i++;
	if (b[i] >> 4 == 4) /* REX */
		i++;
	if (b[i] == 0xe8) {
		step->type = PERFEV_FLOW_CALL;
	} else if (b[i] == 0xe9 || b[i] == 0xeb) {
		step->type = PERFEV_FLOW_JUMP;
	} else if (b[i] == 0xc3 || b[i] == 0xc2) {
		step->type = PERFEV_FLOW_RETURN;
	} else if (b[i] == 0xff && (b[i + 1] >> 3 & 7) == 2) {
		step->type = PERFEV_FLOW_CALL;
		step->indirect = true;
	} else if (b[i] == 0xff && (b[i + 1] >> 3 & 7) == 4) {
		step->type = PERFEV_FLOW_JUMP;
		step->indirect = true;
	} else if (b[i] >> 4 == 7 || (b[i] >= 0xe0 && b[i] <= 0xe3)) {
		step->type = PERFEV_FLOW_CONDITIONAL;
		step->size = (uint8_t)(i + 2);
	} else if (b[i] == 0x0f && b[i + 1] >> 4 == 8) {
		step->type = PERFEV_FLOW_CONDITIONAL;
		step->size = (uint8_t)(i + 6);
	} else if (b[i] == 0x0f && b[i + 1] == 0x05) {
		step->type = PERFEV_FLOW_SYSCALL;
	}
}

/* Whether the program stopped for a signal that is its own or a step's. */
static inline bool stopped(int pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

static inline struct user_regs_struct regs_of(int pid)
{
	struct user_regs_struct regs;

	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
	return regs;
}

static inline uint64_t word_at(int pid, uint64_t address)
{
	return (uint64_t)ptrace(PTRACE_PEEKTEXT, pid, (void *)(uintptr_t)address, NULL);
}

/* The instruction that is next, and what the one before left on the stack. False at an INT3. */
static inline bool note_step(struct stepped *s)
{
	struct user_regs_struct regs = regs_of(s->pid);
	struct step *step = &s->steps[s->count++];
	unsigned char code[16];
	unsigned i;

	assert_true(s->count < STEPS_MAX);
	memset(step, 0, sizeof(*step));
	step->ip = regs.rip;
	if (s->count > 1 && step[-1].type == PERFEV_FLOW_CALL)
		step[-1].after = word_at(s->pid, regs.rsp);
	for (i = 0; i < 2; i++) {
		uint64_t word = word_at(s->pid, step->ip + i * 8);

		memcpy(code + i * 8, &word, 8);
	}
	classify(step, code);
	return code[0] != 0xcc;
}

/* Runs @path to its first INT3, and steps to the second. False where this may not be traced. */
static inline bool step_through(struct stepped *s, const char *path)
{
	memset(s, 0, sizeof(*s));
	s->steps = malloc(STEPS_MAX * sizeof(*s->steps));
	assert_non_null(s->steps);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			execl(path, path, (char *)NULL);
		_exit(1);
	}
	if (!stopped(s->pid))
		return false;
	assert_int_equal(ptrace(PTRACE_CONT, s->pid, NULL, NULL), 0);
	assert_true(stopped(s->pid));
	read_maps(s);
	while (note_step(s)) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, s->pid, NULL, NULL), 0);
		assert_true(stopped(s->pid));
	}
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	return true;
}

#else

static inline bool step_through(struct stepped *s, const char *path)
{
	(void)s;
	(void)path;
	(void)read_maps;
	return false;
}

#endif

static inline void stepped_free(struct stepped *s)
{
	free(s->steps);
	s->steps = NULL;
}

/* A conditional jump that went on behind itself was not taken. */
static inline bool is_taken(const struct stepped *s, size_t at)
{
	const struct step *step = &s->steps[at];

	if (step->type == PERFEV_FLOW_NONE || at + 1 >= s->count)
		return false;
	return step->type != PERFEV_FLOW_CONDITIONAL || s->steps[at + 1].ip != step->ip + step->size;
}

#endif
