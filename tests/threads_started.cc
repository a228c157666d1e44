// Writes down which tests start a thread: the names go to the file that CROWDFOLD_THREADED names, one
// per line, and are the tests that the thread sanitizer runs (tests/CMakeLists.txt). Compiled where
// there are no sanitizers, as those replace pthread_create too.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

namespace {

std::atomic<int> threads_started = 0;

class ThreadedTests : public ::testing::EmptyTestEventListener {
 public:
  explicit ThreadedTests(const char* path) : names_(path) {}

 private:
  void OnTestStart(const ::testing::TestInfo&) override { threads_started = 0; }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    if (threads_started > 0) names_ << test.test_suite_name() << '.' << test.name() << std::endl;
  }

  std::ofstream names_;
};

const bool kListens = [] {
  const char* const path = std::getenv("CROWDFOLD_THREADED");
  if (path != nullptr) ::testing::UnitTest::GetInstance()->listeners().Append(new ThreadedTests(path));
  return true;
}();

}  // namespace

// Stands before that of the C library, for std::thread as well.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  using Create = decltype(&pthread_create);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  ++threads_started;
  return create(thread, attributes, run, argument);
}
