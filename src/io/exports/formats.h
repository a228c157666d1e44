// All export formats, a function each, beside the code that reads it. recognition order and
// docs/formats.md follow the list in formats.cc.
#pragma once

#include "io/exports/export_format.h"

namespace crowdfold {

ExportFormat label_studio_json();
ExportFormat label_studio_min();
ExportFormat label_studio_csv();
ExportFormat label_studio_event();
ExportFormat mturk_results();
ExportFormat mturk_review();
ExportFormat toloka_assignments();
ExportFormat appen_full();
ExportFormat appen_aggregate();
ExportFormat zooniverse_classifications();
ExportFormat caesar_extracts();
ExportFormat caesar_reductions();
ExportFormat prodigy_lines();
ExportFormat argilla_records();
ExportFormat argilla_flattened();
ExportFormat argilla_event();
ExportFormat doccano_lines();
ExportFormat doccano_csv();
ExportFormat doccano_fasttext();
ExportFormat cvat_xml();
ExportFormat wrench_json();
ExportFormat lewidi_json();
ExportFormat peerannot_answers();
ExportFormat potato_state();
ExportFormat get_another_label();
ExportFormat parallel_lists();
ExportFormat rater_one_hot();
ExportFormat qualtrics_survey();
ExportFormat prolific_submissions();

}  // namespace crowdfold
