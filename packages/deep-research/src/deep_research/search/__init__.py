"""The index over passages: postings, ranking, names, second-hop search."""
