#pragma once

/// Descriptions of an executor's work, as tools see it.

#include <span>

#include <tessera/executor.hpp>
#include <tessera/tools.hpp>

namespace tessera::tools {

Operation describe(Executor& executor, Queue& queue, const GemmCall& call, const char* kernel);
/// Describes a product that verifies itself, or its repair; the name is the kind's word.
Operation describe_verified(Executor& executor, Queue& queue, const GemmCall& call, Kind kind);
Operation describe(Executor& executor, Queue& queue, std::span<const GemmBatch> groups, const char* kernel);
Operation describe(Executor& executor, Queue& queue, const ReduceCall& call, const char* kernel);
Operation describe(Executor& executor, Queue& queue, const MapCall& call);
Operation describe(Executor& executor, Queue& queue, const RandomCall& call);
Operation describe(Executor& executor, Queue& queue, const FinishCall& call);
Operation describe(Executor& executor, Queue& queue, const CopyCall& call);
Operation describe(Executor& executor, Queue& queue, const PanelCall& call);
/// Describes a copy of `rows` rows of `width` bytes; `kind` is one of the copies.
Operation describe_copy(Executor& executor, Queue& queue, Kind kind, std::size_t width, std::size_t rows);
/// Describes an allocation or a free; `bytes` is 0 where the size is not known.
Operation describe_memory(Executor& executor, Kind kind, const char* name, std::size_t bytes, const void* memory);

} // namespace tessera::tools
