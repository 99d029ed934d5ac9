"""Figures of the MusiCRS paper as data, for comparison with those of a run.

Source of `table1.csv`, `datasets.csv` and `examples.csv`: Rohan Surana, Amit Namburi, Gagan Mundada, Abhay Lal, Zachary
Novack, Julian McAuley and Junda Wu, "MusiCRS: Benchmarking Audio-Centric Conversational Recommendation", 2025,
arXiv:2509.19469v2: its Table 1, the table in its Figure 1, and the threads shown in its Figure 2 and its two case
studies (found again by their text). `chance.csv` is not in the paper: it is the exact expectation of a random ranking
on the published file (`musicrs_metric.chance`), all 477 threads averaged as the paper does.
"""
