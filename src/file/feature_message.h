/* SPDX-License-Identifier: MIT */
/* Walks over sections that are messages: feature_walk.c begins them, and hands on what comes. */
#ifndef FILE_FEATURE_MESSAGE_H
#define FILE_FEATURE_MESSAGE_H

#include <perfev/feature.h>

/* feature_message_begin() - Return: true when the section of the walk is one of those. */
bool feature_message_begin(struct perfev_feature_walk *w);
/* feature_message_next() - as perfev_feature_next() */
int feature_message_next(struct perfev_feature_walk *w, struct perfev_feature_field *ret, struct perfev_error *err);
/* feature_keep_text() - what fits of a name, in the walk's file: names in sections need not end with a zero */
void feature_keep_text(struct perfev_feature_walk *w, struct perfev_bytes from);

#endif
