"""Citation of the paper."""

BIBTEX = """\
@article{surana2025musicrs,
  title   = {{MusiCRS}: Benchmarking Audio-Centric Conversational Recommendation},
  author  = {Surana, Rohan and Namburi, Amit and Mundada, Gagan and Lal, Abhay and Novack, Zachary
             and McAuley, Julian and Wu, Junda},
  journal = {arXiv preprint arXiv:2509.19469},
  year    = {2025}
}
"""
