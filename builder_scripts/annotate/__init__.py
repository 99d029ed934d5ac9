"""Annotation: annotators judge category, links, entities and query of each thread, and settle their disagreements.

```
worklist.jsonl -> serve (the page) -> answers, one file per annotator
               -> agree -> agreement.json, disagreements.csv -> settle -> labels.jsonl
```
"""
