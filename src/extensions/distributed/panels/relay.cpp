#include "relay.hpp"

#include <bit>

namespace tessera::distributed {
namespace {

/// Messages with this tag and larger ones are broadcasts; the root's rank is added.
constexpr int first_tag = 16;

/// Returns a rank's number in the tree, whose root has the number 0.
int number_of(int rank, int root, int ranks) noexcept { return (rank - root + ranks) % ranks; }

/// Returns the least power of two that is larger than a number.
int power_above(int number) noexcept { return 1 << std::bit_width(static_cast<unsigned>(number)); }

} // namespace

void Relay::reserve(int ranks, std::size_t bytes) {
  receiving_.reserve(requests_of(bytes));
  sending_.reserve(static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(ranks))) * requests_of(bytes));
}

Status Relay::begin(Communicator& ranks, char* data, std::size_t bytes, int root, Traffic& traffic) noexcept {
  data_ = data;
  bytes_ = bytes;
  root_ = root;
  handed_on_ = false;
  const int number = number_of(ranks.rank(), root, ranks.size());
  if (number == 0) return hand_on(ranks, traffic);
  const int from = (number - power_above(number) / 2 + root) % ranks.size();
  ++traffic.messages;
  traffic.bytes_received += bytes;
  return ranks.receive(data, bytes, from, first_tag + root, receiving_);
}

/// The rank with number v hands on to v + 2^i for every 2^i above v.
Status Relay::hand_on(Communicator& ranks, Traffic& traffic) noexcept {
  handed_on_ = true;
  const int number = number_of(ranks.rank(), root_, ranks.size());
  for (int step = number == 0 ? 1 : power_above(number); number + step < ranks.size(); step *= 2) {
    ++traffic.messages;
    traffic.bytes_sent += bytes_;
    if (Status status = ranks.send(data_, bytes_, (number + step + root_) % ranks.size(), first_tag + root_, sending_);
        !status.ok())
      return status;
  }
  return {};
}

Status Relay::progress(Communicator& ranks, Traffic& traffic) noexcept {
  bool done = false;
  if (handed_on_) return ranks.progress(sending_, done);
  if (Status status = ranks.progress(receiving_, done); !status.ok() || !done) return status;
  return hand_on(ranks, traffic);
}

Status Relay::receive(Communicator& ranks, Traffic& traffic) noexcept {
  if (Status status = ranks.wait(receiving_); !status.ok()) return status;
  return handed_on_ ? Status{} : hand_on(ranks, traffic);
}

Status Relay::finish(Communicator& ranks) noexcept { return ranks.wait(sending_); }

} // namespace tessera::distributed
