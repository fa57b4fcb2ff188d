"""The follower: what has changed in a project since its index was built. It looks when it is asked, and not before."""
