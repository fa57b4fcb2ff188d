#pragma once
#include <string>
// A C++ header with a name of C.
class Engine {
 public:
  virtual ~Engine() = default;
  std::string name() const { return name_; }
 private:
  std::string name_;
};
