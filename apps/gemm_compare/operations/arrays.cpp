#include "arrays.hpp"

#include <algorithm>
#include <cstring>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "catalogue.hpp"
#include "race/data_sets.hpp"

namespace tessera::compare_app {
namespace {

/// The seed of one array; it is different for every array of every set.
std::uint64_t seed_of(std::uint64_t seed, std::size_t set, std::size_t array) {
  return seed * 0x9E3779B97F4A7C15u + (std::uint64_t{set} << 32) + array;
}

void fill(const Options& options, const Stored& x, std::uint64_t seed, void* data) {
  if (x.type == DType::I32)
    fill_whole(options.filling, x.rows * x.ld, seed, static_cast<std::int32_t*>(data));
  else
    fill_matrix(x, options.filling, 1, seed, data);
}

} // namespace

void OperationArrays::allocate(Executor& executor, std::size_t count) {
  for (std::size_t s = 0; s < count; ++s) {
    Set set;
    for (std::size_t a = 0; a < stored_.size(); ++a) {
      set.arrays.emplace_back(executor, stored_[a].bytes());
      set.before.push_back(is_updated(a) ? Buffer(executor, stored_[a].bytes()) : Buffer());
    }
    sets_.push_back(std::move(set));
  }
}

OperationArrays OperationArrays::on_host(const OperationEntry& entry, const OperationSizes& sizes,
                                         const Options& options, std::size_t count) {
  std::vector<Stored> stored;
  const std::vector<ArrayShape> shapes = shapes_of(entry, sizes);
  for (std::size_t a = 0; a < shapes.size(); ++a)
    stored.emplace_back(shapes[a].rows, shapes[a].cols, entry.arrays[a].type, options.ld_pad);
  OperationArrays arrays(entry, std::move(stored));
  arrays.allocate(executor(Backend::Reference), count);
  for (std::size_t s = 0; s < count; ++s)
    for (std::size_t a = 0; a < shapes.size(); ++a) {
      if (entry.arrays[a].access == ArrayAccess::Written) continue;
      const Set& set = arrays.sets_[s];
      const Buffer& buffer = arrays.is_updated(a) ? set.before[a] : set.arrays[a];
      fill(options, arrays.stored_[a], seed_of(options.seed, s, a), buffer.data());
    }
  return arrays;
}

OperationArrays OperationArrays::on_device(const OperationArrays& host, Executor& device) {
  OperationArrays arrays(*host.entry_, host.stored_);
  arrays.allocate(device, host.count());
  Queue& queue = device.default_queue();
  const auto upload = [&](const Buffer& to, const void* from, std::size_t bytes) {
    if (bytes > 0) throw_if_failed(device.copy_in(queue, to.data(), bytes, from, bytes, bytes, 1));
  };
  std::size_t largest = 0;
  for (std::size_t a = 0; a < host.stored_.size(); ++a) {
    const std::size_t bytes = host.stored_[a].bytes();
    if (host.entry_->arrays[a].access == ArrayAccess::Written) {
      largest = std::max(largest, bytes);
      continue;
    }
    const auto member = host.is_updated(a) ? &Set::before : &Set::arrays;
    for (std::size_t s = 0; s < host.count(); ++s)
      upload((arrays.sets_[s].*member)[a], (host.sets_[s].*member)[a].data(), bytes);
  }
  if (largest > 0) {
    arrays.blank_ = Buffer(device, largest);
    upload(arrays.blank_, std::vector<std::byte>(largest, std::byte{blank_of_race}).data(), largest);
  }
  return arrays;
}

std::vector<ArrayPlace> OperationArrays::places(std::size_t set) const {
  std::vector<ArrayPlace> places;
  places.reserve(stored_.size());
  for (std::size_t a = 0; a < stored_.size(); ++a)
    places.push_back({sets_[set].arrays[a].data(), stored_[a].rows, stored_[a].cols, stored_[a].ld});
  return places;
}

Status OperationArrays::enqueue_preparation(std::size_t set, Executor& executor, unsigned char blank) const {
  const bool on_host = executor.capabilities().host_memory;
  for (std::size_t a = 0; a < stored_.size(); ++a) {
    const std::size_t bytes = stored_[a].bytes();
    if (entry_->arrays[a].access == ArrayAccess::Read || bytes == 0) continue;
    void* const to = sets_[set].arrays[a].data();
    if (on_host && !is_updated(a)) {
      std::memset(to, blank, bytes);
      continue;
    }
    const void* const from = is_updated(a) ? sets_[set].before[a].data() : blank_.data();
    if (on_host) {
      std::memcpy(to, from, bytes);
      continue;
    }
    const CopyCall copy{CopyDirection::Within, to, bytes, from, bytes, bytes, 1};
    if (Status status = executor.enqueue_copy(executor.default_queue(), copy); !status.ok()) return status;
  }
  return {};
}

std::vector<std::byte> OperationArrays::copy_out(std::size_t set, std::size_t array, Executor& executor) const {
  std::vector<std::byte> elements(stored_[array].bytes());
  const std::size_t bytes = elements.size();
  if (bytes > 0)
    throw_if_failed(executor.copy_out(executor.default_queue(), elements.data(), bytes, sets_[set].arrays[array].data(),
                                      bytes, bytes, 1));
  return elements;
}

} // namespace tessera::compare_app
