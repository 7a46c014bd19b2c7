#pragma once

/// A loop's body, as a parameter.

#include <memory>
#include <type_traits>

namespace tessera::cpu {

/// A reference to a callable object. The object must outlive the reference, and calling it must not throw.
template <class... Arguments>
class BodyReference {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, BodyReference>) BodyReference(F&& body)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* object, Arguments... arguments) {
          (*static_cast<std::remove_reference_t<F>*>(object))(arguments...);
        }) {}
  void operator()(Arguments... arguments) const { call_(object_, arguments...); }

 private:
  void* object_;
  void (*call_)(void*, Arguments...);
};

} // namespace tessera::cpu
