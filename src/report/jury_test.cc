#include "crowdfold/jury.h"

#include <gtest/gtest.h>
