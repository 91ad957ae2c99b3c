/* What the tests' FMU is asked to do instead of a step, as values of its parameter "mood". */
#pragma once

#define CONTROLLER_TOKEN "{controller}"
#define CONTROLLER_EVENTLESS "{eventless.}" /* it is not made with event mode (3.0) */
#define CONTROLLER_UNNAMED "{unnamed...}"   /* … nor with variables to be set within steps */

enum controller_mood {
    CONTROLLER_BEHAVES,
    CONTROLLER_CRASHES,
    CONTROLLER_ABORTS,
    CONTROLLER_EXITS,
    CONTROLLER_LOOPS,
    CONTROLLER_BABBLES,  /* writes to the socket of its process */
    CONTROLLER_DISCARDS, /* returns that status */
    CONTROLLER_WRITES,   /* a file below /tmp; this and what follows: an error where it cannot */
    CONTROLLER_READS,    /* a file of the system */
    CONTROLLER_FORKS,
    CONTROLLER_CONNECTS,
    CONTROLLER_GROWS, /* by 100 GB */
    CONTROLLER_ENDS,  /* asks to end the simulation (3.0), an ulp late */
    CONTROLLER_STOPS, /* the same half-way */
    /* these write messages to the socket, which the daemon takes for those of its process: */
    CONTROLLER_FORGES,         /* an answer without the values of a step */
    CONTROLLER_FORGES_FAILURE, /* a refusal without its reason */
    CONTROLLER_ANSWERS_TWICE,  /* a good answer, so that the one of the process comes after it */
    CONTROLLER_FORGES_EVENTS,  /* an answer with an event that is none, the last one */
    CONTROLLER_RETURNS,        /* its steps end where 0.25 s are over, if they may (3.0) */
    CONTROLLER_KEEPS,          /* it takes no inputs within its steps (3.0) */
    CONTROLLER_QUIET,          /* it asks for none (3.0) */
    CONTROLLER_SHORT,          /* it discards questions for derivatives of outputs */
    CONTROLLER_HIDES,          /* it returns no outputs within its steps (3.0) */
    CONTROLLER_STRAYS,         /* it reports internal steps beyond the end of its own (3.0) */
    /* behind a quarter of a step they wait until they are asked to return early (3.0); then it */
    CONTROLLER_WAITS,   /* returns */
    CONTROLLER_IGNORES, /* goes on to the end */
    CONTROLLER_LOGS     /* returns, and logs without a pause before; without end if it cannot */
};
