// crowdfold: the program of its own. The Python package has the same one as a function.
#include <new>

#include "commands.h"

// simdjson asks for its arrays this way, and writes to one without looking whether it got it.
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return ::operator new[](size); }

int main(int argc, char** argv) { return crowdfold::cli::run_program(argc, argv); }
