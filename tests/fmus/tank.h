/* The FMU with event mode of the tests. */
#pragma once

#define TANK_TOKEN "{tank}"

/* Value references. */
enum tank_variable {
    TANK_LEVEL,   /* output, x: x' = u; at 1 it is emptied, in event mode */
    TANK_INFLOW,  /* u: continuous input */
    TANK_VALVE,   /* discrete input, which is set in event mode alone */
    TANK_EMPTIED, /* output: how often */
    TANK_TICKS,   /* output: events that were foreseen, every 0.25 s */
    TANK_OPENED,  /* output: how often the valve has been set */
    TANK_VARIABLES
};

/* Values of the valve. */
enum {
    TANK_QUIET = 0,
    TANK_FOREVER = 1, /* its next event asks for ever more updates */
    TANK_SHUTS = 2,   /* its next event asks to end the simulation */
    TANK_STICKS = 3,  /* it is not emptied where it is full */
    TANK_STRAYS = 4,  /* its next step ends behind its end */
    TANK_BROKEN = 5   /* a value that is refused */
};
