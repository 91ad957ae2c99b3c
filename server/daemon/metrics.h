/* The page of /metrics: Prometheus' text format, version 0.0.4. */
#pragma once

struct mechd;
struct mechp_text;

/* Any thread. */
void mechd_metrics_write(struct mechd *d, struct mechp_text *w);
