/* SPDX-License-Identifier: MIT */
/* The threads of a process, from /proc. */
#ifndef CAPTURE_TASKS_H
#define CAPTURE_TASKS_H

#include <perfev/common.h>

/* tasks_list() - put the threads of @pid at the end of a growing array
 * Return: 0; -ESRCH when there is no such process; -ENOMEM. */
int tasks_list(int32_t pid, int32_t **tasks, size_t *room, size_t *count);

/* tasks_settle() - the same, looked at until two looks in a row agree (at most 10). */
int tasks_settle(int32_t pid, int32_t **tasks, size_t *room, size_t *count);

#endif
