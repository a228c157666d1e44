#include "io/exports/formats.h"

namespace crowdfold {

const std::vector<ExportFormat>& all_export_formats() {
  static const std::vector<ExportFormat> formats = {
      label_studio_json(),    label_studio_min(),
      label_studio_csv(),     label_studio_event(),
      mturk_results(),        mturk_review(),
      toloka_assignments(),   appen_full(),
      appen_aggregate(),      zooniverse_classifications(),
      caesar_extracts(),      caesar_reductions(),
      prodigy_lines(),        argilla_records(),
      argilla_flattened(),    argilla_event(),
      doccano_lines(),        doccano_csv(),
      doccano_fasttext(),     cvat_xml(),
      wrench_json(),          lewidi_json(),
      peerannot_answers(),    potato_state(),
      get_another_label(),    parallel_lists(),
      rater_one_hot(),        qualtrics_survey(),
      prolific_submissions(),
  };
  return formats;
}

}  // namespace crowdfold
