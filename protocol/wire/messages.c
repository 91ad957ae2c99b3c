/* Shapes of messages that are no bodies of routes. */
#include "protocol/wire/bodies_messages.h"

const struct mechp_shape mechp_body_message_request = {
    .name = "MessageRequest",
    .doc = "What a message has besides its body and the parameters of its route.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"op", "string", "the path determines the operation", MECHP_MAY(message_request, op)},
        {"sequence", "any", "it is for messages over ZeroMQ; responses over HTTP arrive in order",
         false},
        {"token", "string", "it belongs in the header Authorization: Bearer TOKEN",
         MECHP_MAY(message_request, token)})};

const struct mechp_shape mechp_body_message_lease = {
    .name = "MessageLease",
    .doc = "The lease that a message shows.",
    .request = true,
    .members = MECHP_MEMBERS({"lease", "integer 1..", "it belongs in the header Lease",
                              MECHP_MAY(message_lease, lease)})};

const struct mechp_shape mechp_body_message_item = {
    .name = "MessageItem",
    .doc = "An item of a batch.",
    .request = true,
    .members = MECHP_MEMBERS({"id", "@Name", "the instance", MECHP_MAY(message_item, id)},
                             {"op", "string", "the operation on it", MECHP_MAY(message_item, op)},
                             {"token", "string", "that of the batch", false})};

const struct mechp_shape mechp_body_hello_request = {
    .name = "HelloRequest",
    .doc = "A partner of an instance introduces itself.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"token", "string", "of the client", MECHP_MAY(hello_request, token)},
        {"instance", "@Name", "the instance", MECHP_MAY(hello_request, instance)},
        {"inputs", "@Name[]", "inputs in the order of its frames (all)",
         MECHP_MAY(hello_request, inputs)},
        {"inputOrder", "integer 0..2", "derivatives that follow the inputs (0)",
         MECHP_MAY(hello_request, input_order)},
        {"outputs", "@Name[]", "outputs in the order of the replies (all)",
         MECHP_MAY(hello_request, outputs)},
        {"want", "string[]", "what follows the outputs", MECHP_MAY(hello_request, want)},
        {"role", "string", "of the lease", MECHP_MAY(hello_request, role)},
        {"name", "@Name", "of the holder of the lease (that of the token)",
         MECHP_MAY(hello_request, name)},
        {"seconds", "number", "of the lease", MECHP_MAY(hello_request, seconds)},
        {"earlyReturn", "boolean", "its steps and trials end at events",
         MECHP_MAY(hello_request, early_return)})};

const struct mechp_shape mechp_body_hello_instance = {
    .name = "HelloInstance",
    .doc = "Of the reply to a partner: the instance of its frames.",
    .members = MECHP_MEMBERS(
        {"instance", "integer", "its number in frames", MECHP_IN(hello_instance, instance)})};

const struct mechp_shape mechp_body_hello_lease = {
    .name = "HelloLease",
    .doc = "Of the reply to a partner: a lease that has ended meanwhile.",
    .members = MECHP_MEMBERS({"lease", "integer", "its number", MECHP_IN(hello_lease, lease)})};

const struct mechp_shape mechp_body_hello_layout = {
    .name = "HelloLayout",
    .doc = "Of the reply to a partner: what its frames and the replies have.",
    .members = MECHP_MEMBERS(
        {"layout", "@StreamPart[]", "of replies", MECHP_IN(hello_layout, layout)},
        {"inputLayout", "@StreamPart[]", "of its frames", MECHP_IN(hello_layout, input_layout)},
        {"inputOrder", "integer", "derivatives that follow the inputs",
         MECHP_IN(hello_layout, input_order)},
        {"wantLayout", "@StreamPart[]", "what follows the outputs, if it wants something",
         MECHP_MAY(hello_layout, want_layout)})};

const struct mechp_shape mechp_body_hello_hash = {
    .name = "HelloHash",
    .doc = "Of the reply to a partner: the hash of the layout.",
    .members = MECHP_MEMBERS({"layoutHash", "string", "of the layout as it is written",
                              MECHP_IN(hello_hash, layout_hash)})};

const struct mechp_shape mechp_body_program_hello_request = {
    .name = "ProgramHelloRequest",
    .doc = "An external program connects as a participant of a coupling.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"coupling", "@Name", "the coupling", MECHP_MAY(program_hello_request, coupling)},
        {"participant", "@Name", "its name there", MECHP_MAY(program_hello_request, participant)},
        {"inputOrder", "integer 0..2", "derivatives that follow the inputs (0)",
         MECHP_MAY(program_hello_request, input_order)},
        {"window", "integer 0..", "of a program that returns: committed last",
         MECHP_MAY(program_hello_request, window)},
        {"token", "string", "of the client", MECHP_MAY(program_hello_request, token)},
        {"want", "string[]", "what its answers have besides outputs",
         MECHP_MAY(program_hello_request, want)})};

const struct mechp_shape mechp_body_program_hello_reply = {
    .name = "ProgramHelloReply",
    .doc = "The reply to an external program that has connected.",
    .members = MECHP_MEMBERS(
        {"coupling", "@Name", "the coupling", MECHP_IN(program_hello_reply, coupling)},
        {"participant", "@Name", "its name there", MECHP_IN(program_hello_reply, participant)},
        {"lease", "integer", "of its frames", MECHP_IN(program_hello_reply, lease)},
        {"inputs", "@Name[]", "numbers that it gets", MECHP_IN(program_hello_reply, inputs)},
        {"outputs", "@Name[]", "numbers that it returns", MECHP_IN(program_hello_reply, outputs)},
        {"inputOrder", "integer", "derivatives that follow the inputs",
         MECHP_IN(program_hello_reply, input_order)},
        {"window", "integer", "committed last", MECHP_IN(program_hello_reply, window)},
        {"time", "number", "s, at its end", MECHP_IN(program_hello_reply, time)},
        {"want", "string[]", "what its answers have besides outputs",
         MECHP_IN(program_hello_reply, want)})};

const struct mechp_shape mechp_body_message_refusal = {
    .name = "MessageRefusal",
    .doc = "The reply to a message that is refused.",
    .members = MECHP_MEMBERS(
        {"ok", "boolean", "false", MECHP_IN(message_refusal, ok)},
        {"sequence", "any", "that of the request", MECHP_MAY(message_refusal, sequence)},
        {"error", "@Problem", "why", MECHP_IN(message_refusal, error)})};

const struct mechp_shape mechp_body_exceeded_quota = {
    .name = "ExceededQuota",
    .doc = "The quota that a refused request exceeds.",
    .members = MECHP_MEMBERS({"which", "string", "its name", MECHP_IN(exceeded_quota, which)},
                             {"used", "number", "current use", MECHP_IN(exceeded_quota, used)},
                             {"limit", "number", "the quota", MECHP_IN(exceeded_quota, limit)})};

const struct mechp_shape mechp_body_message_text = {
    .name = "MessageText",
    .doc = "An answer in another format than JSON.",
    .members = MECHP_MEMBERS({"format", "string", "its format", MECHP_IN(message_text, format)},
                             {"text", "string", "the answer", MECHP_IN(message_text, text)})};

const struct mechp_shape mechp_body_published_event = {
    .name = "PublishedEvent",
    .doc = "The newest values of an instance, as a live event.",
    .members = MECHP_MEMBERS(
        {"life", "string", "another one: not the same instance, or another history",
         MECHP_IN(published_event, life)},
        {"rewound", "boolean", "true: time has gone back", MECHP_MAY(published_event, rewound)},
        {"time", "number", "s", MECHP_IN(published_event, time)},
        {"step", "integer", "internal steps since the start", MECHP_IN(published_event, step)},
        {"sequence", "integer", "of what has been published", MECHP_IN(published_event, sequence)},
        {"running", "boolean", "a run is in progress", MECHP_IN(published_event, running)},
        {"outputs", "@Value{}", "all", MECHP_IN(published_event, outputs)})};

const struct mechp_shape mechp_body_published_frame = {
    .name = "PublishedFrame",
    .doc = "The same as a message of the stream.",
    .members = MECHP_MEMBERS(
        {"instance", "@Name", "the instance", MECHP_IN(published_frame, instance)},
        {"life", "string", "as of a live event", MECHP_IN(published_frame, life)},
        {"time", "number", "s", MECHP_IN(published_frame, time)},
        {"step", "integer", "internal steps since the start", MECHP_IN(published_frame, step)},
        {"sequence", "integer", "of what has been published", MECHP_IN(published_frame, sequence)},
        {"flags", "integer", "of the binary frame", MECHP_IN(published_frame, flags)},
        {"outputs", "@Value{}", "all", MECHP_IN(published_frame, outputs)})};
