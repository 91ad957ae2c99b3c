/* Streams that clients choose: some outputs, every so many communication steps. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

static const struct mechp_member choice[] = {
    {"name", "@Name", "part of the topic; unique within the instance or coupling",
     MECHP_IN(stream_request, name)},
    {"outputs", "string[]", "outputs in the order of the values (default all)",
     MECHP_MAY(stream_request, outputs)},
    {"every", "integer 1..1000000000", "communication steps from one frame to the next (default 1)",
     MECHP_MAY(stream_request, every)},
    {NULL, NULL, NULL, 0}};

const struct mechp_shape mechp_body_stream_request = {
    .name = "StreamRequest",
    .doc = "Outputs to stream, and how often.",
    .request = true,
    .members = choice,
    .example = "{\"name\":\"slow\",\"outputs\":[\"x\"],\"every\":10}"};

static const struct mechp_shape coupling_stream_request = {
    .name = "CouplingStreamRequest",
    .doc = "Outputs of a coupling to stream, and how often.",
    .request = true,
    .members = choice,
    .example = "{\"name\":\"slow\",\"outputs\":[\"cart.x\"],\"every\":10}"};

const struct mechp_shape mechp_body_stream_part = {
    .name = "StreamPart",
    .doc = "Values of an output in a frame.",
    .members = MECHP_MEMBERS(
        {"name", "string", "name of the output", MECHP_IN(stream_part, name)},
        {"offset", "integer", "index of its first value", MECHP_IN(stream_part, offset)},
        {"count", "integer", "number of its values", MECHP_IN(stream_part, count)})};

const struct mechp_shape mechp_body_stream = {
    .name = "ChosenStream",
    .doc = "A chosen stream: outputs that a client has chosen, sent at an interval that it has "
           "chosen.",
    .members = MECHP_MEMBERS(
        {"name", "@Name", "as given", MECHP_IN(stream, name)},
        {"topic", "string", "topic to subscribe to at the stream socket", MECHP_IN(stream, topic)},
        {"every", "integer", "communication steps from one frame to the next",
         MECHP_IN(stream, every)},
        {"watched", "boolean", "it has a subscriber", MECHP_IN(stream, watched)},
        {"layout", "@StreamPart[]", "values of a frame", MECHP_IN(stream, layout)},
        {"layoutHash", "string",
         "hash of the layout, 16 hexadecimal digits; frames carry the same number in their field "
         "`lease`",
         MECHP_IN(stream, layout_hash)})};

const struct mechp_shape mechp_body_stream_list = {
    .name = "StreamList",
    .doc = "Chosen streams, oldest first.",
    .members =
        MECHP_MEMBERS({"items", "@ChosenStream[]", "16 at most", MECHP_IN(stream_list, items)},
                      {"next", "null", "always null: there are no further pages", true})};

const struct mechp_shape *const mechp_shapes_streams[] = {
    &mechp_body_stream_request, &coupling_stream_request, &mechp_body_stream_part,
    &mechp_body_stream,         &mechp_body_stream_list,  NULL};

/* --- routes --- */

const struct mechp_row mechp_row_STREAMS = {
    .tag = "stepping",
    .doc = "Streams of outputs that clients have chosen (POST …/streams). The topics `state/{id}/` "
           "and `json/{id}/`, with all outputs of every communication step, always exist.",
    .effect = MECHP_READS,
    .traits = MECHP_STATELESS,
    .status = 200,
    .reply = "@StreamList",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_CHOOSE_STREAM = {
    .tag = "stepping",
    .doc = "The ZeroMQ socket `stream` then sends frames of the chosen outputs under the topic "
           "`pick/{id}/{name}/` of the reply, one after each communication step whose number is a "
           "multiple of `every`. Nothing is sent while it has no subscriber. The stream exists "
           "until it or the instance is deleted, and is not stored on disk.",
    .effect = MECHP_BESIDE,
    .traits = MECHP_WHILE_RUN | MECHP_UNLEASED | MECHP_FLEETING | MECHP_STATELESS,
    .body = &mechp_body_stream_request,
    .of_id = "the name of the stream is given by `name`",
    .status = 201,
    .reply = "@ChosenStream",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_LIMIT_REACHED)};

const struct mechp_row mechp_row_STREAM = {.tag = "stepping",
                                           .doc = "Its topic, outputs and interval.",
                                           .effect = MECHP_READS,
                                           .traits = MECHP_STATELESS,
                                           .status = 200,
                                           .reply = "@ChosenStream",
                                           .content = MECHP_JSON};

const struct mechp_row mechp_row_DELETE_STREAM = {
    .tag = "stepping",
    .doc = "Its subscribers receive no further frames.",
    .effect = MECHP_BESIDE,
    .traits = MECHP_WHILE_RUN | MECHP_UNLEASED | MECHP_FLEETING | MECHP_STATELESS,
    .status = 204};

/* --- of couplings --- */

const struct mechp_row mechp_row_COUPLING_STREAMS = {
    .tag = "couplings",
    .doc = "Streams of outputs that clients have chosen (POST …/streams). The topics "
           "`state/{cid}/` and `json/{cid}/`, with all outputs of every window, always exist, and "
           "so does `hash/{cid}/` if no external program takes part.",
    .effect = MECHP_READS,
    .traits = MECHP_OF_COUPLING | MECHP_STATELESS,
    .status = 200,
    .reply = "@StreamList",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_CHOOSE_COUPLING_STREAM = {
    .tag = "couplings",
    .doc = "As for an instance: the topic is `pick/{cid}/{name}/`, outputs are named "
           "participant.output, and communication steps are windows.",
    .effect = MECHP_BESIDE,
    .traits =
        MECHP_OF_COUPLING | MECHP_WHILE_RUN | MECHP_UNLEASED | MECHP_FLEETING | MECHP_STATELESS,
    .body = &coupling_stream_request,
    .status = 201,
    .reply = "@ChosenStream",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_LIMIT_REACHED)};

const struct mechp_row mechp_row_COUPLING_STREAM = {.tag = "couplings",
                                                    .doc = "Its topic, outputs and interval.",
                                                    .effect = MECHP_READS,
                                                    .traits = MECHP_OF_COUPLING | MECHP_STATELESS,
                                                    .status = 200,
                                                    .reply = "@ChosenStream",
                                                    .content = MECHP_JSON};

const struct mechp_row mechp_row_DELETE_COUPLING_STREAM = {
    .tag = "couplings",
    .doc = "Its subscribers receive no further frames.",
    .effect = MECHP_BESIDE,
    .traits =
        MECHP_OF_COUPLING | MECHP_WHILE_RUN | MECHP_UNLEASED | MECHP_FLEETING | MECHP_STATELESS,
    .status = 204};
