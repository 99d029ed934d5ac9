"""Human validation: people judge category, links, entities and query of each thread, and agree on what they differ in.

```
worklist.jsonl -> serve (the page) -> answers, one file per annotator
               -> agree -> agreement.json, disagreements.csv -> settle -> labels.jsonl
```
"""
