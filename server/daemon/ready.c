#include "server/daemon/ready.h"

#include "protocol/wire/bodies_records.h"
#include "server/daemon/daemon.h"
#include "server/http/http.h"
#include "server/lane/lane.h"
#include "server/zmq/zmq.h"
#include "solver/base/err.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL for an address that is not there. */
static const char *known(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* A device, a FIFO or a link to something that exists: it is written to, and neither replaced nor
 * removed. */
static bool stays(const char *path)
{
    struct stat itself, behind;
    return lstat(path, &itself) == 0 && !S_ISREG(itself.st_mode) && stat(path, &behind) == 0;
}

/* A FIFO that is not being read is an error, ENXIO: it is not waited for. */
static FILE *open_as_it_is(const char *path)
{
    const int file = open(path, O_WRONLY | O_NONBLOCK | O_TRUNC | O_CLOEXEC);
    return file < 0 ? NULL : fdopen(file, "w");
}

int mechd_ready_write(const struct mechd *d)
{
    const char *path = d->service.config.ready_file;
    char beside[MECHD_ADDRESS + 8];
    if (path[0] == '\0') {
        return 0;
    }
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    const struct mechp_body_ready_file body = {
        .pid = getpid(),
        .http = known(mechd_http_address(d->http)),
        .control = known(mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_CONTROL)),
        .stream = known(mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_STREAM)),
        .forces = known(mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_FORCES)),
        .lane = known(mechd_lane_endpoint(d->lane)),
        .state = known(d->service.config.state),
        .server_key = known(d->service.curve.text),
    };
    MECHP_WRITE(ready_file, &body, &w);

    const bool direct = stays(path);
    snprintf(beside, sizeof beside, "%s.new", path);
    FILE *file = w.failed ? NULL : direct ? open_as_it_is(path) : fopen(beside, "w");
    bool ok = file != NULL && fwrite(w.bytes, 1, w.length, file) == w.length;
    ok = file != NULL && fclose(file) == 0 && ok;
    mechp_text_fini(&w);
    return ok && (direct || rename(beside, path) == 0) ? 0 : MECH_INTERNAL;
}

void mechd_ready_remove(const struct mechd *d)
{
    const char *const path = d->service.config.ready_file;
    if (path[0] != '\0' && !stays(path)) {
        unlink(path);
    }
}
