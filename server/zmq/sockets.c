/* What all files of the door do with its sockets. */
#include "server/zmq/internal.h"

#include <unistd.h>

int mechd_zmq_receive(void *socket, zmq_msg_t *frames, int most)
{
    int count = 0;
    int more = 1;
    while (more) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&frame);
            break;
        }
        more = zmq_msg_more(&frame);
        if (count < most) {
            frames[count++] = frame;
        } else {
            zmq_msg_close(&frame);
        }
    }
    return count;
}

const char *mechd_zmq_socket_name(enum mechd_zmq_socket socket)
{
    switch (socket) {
    case MECHD_ZMQ_CONTROL:
        return "control";
    case MECHD_ZMQ_STREAM:
        return "stream";
    case MECHD_ZMQ_FORCES:
        return "forces";
    case MECHD_ZMQ_SOCKETS:
    default:
        return "";
    }
}

void mechd_zmq_poke(struct mechd_zmq *z)
{
    const uint64_t one = 1;
    const ssize_t written = write(z->wake, &one, sizeof one);
    (void)written; // a full counter wakes as well
}
