// Columns of Arrow arrays.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrow.h"
#include "crowdfold/columns.h"

namespace crowdfold::python {

// Error(data) for a type that is neither text, number, boolean nor a dictionary of these; `name` is what
// messages call the column.
std::unique_ptr<ValueColumn> arrow_column(const ArrowSchema& schema, const ArrowArray& array,
                                          const std::string& name);

// The same of chunks that share one dictionary, whose values are looked up once; nullptr if they do not.
std::unique_ptr<ValueColumn> shared_dictionary_column(const ArrowSchema& schema,
                                                      std::span<const ArrowArray* const> chunks,
                                                      const std::string& name);

// The next array of a stream; empty at its end. Error(io) with what its producer says.
Owned<ArrowArray> next_array(Owned<ArrowArrayStream>& stream);
Owned<ArrowSchema> schema_of(Owned<ArrowArrayStream>& stream);

// Where a column of a table is. Error(usage) that lists the columns if there is none of that name.
std::size_t find_column(const ArrowSchema& table, const std::string& name);

}  // namespace crowdfold::python
