"""Stage `release`: the dataset, with the files of the pipeline that may be published."""
