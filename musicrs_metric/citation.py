"""Citations of the paper and of this software. The second repeats CITATION.cff, which no wheel holds."""

BIBTEX = """\
@article{surana2025musicrs,
  title   = {{MusiCRS}: Benchmarking Audio-Centric Conversational Recommendation},
  author  = {Surana, Rohan and Namburi, Amit and Mundada, Gagan and Lal, Abhay and Novack, Zachary
             and McAuley, Julian and Wu, Junda},
  journal = {arXiv preprint arXiv:2509.19469},
  year    = {2025}
}
"""

SOFTWARE_BIBTEX = """\
@software{musicrs,
  title   = {musicrs},
  author  = {{The musicrs contributors}},
  version = {0.2.0},
  date    = {2026-11-30},
  year    = {2026},
  license = {Apache-2.0}
}
"""
