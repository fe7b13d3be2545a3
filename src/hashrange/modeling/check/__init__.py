"""Design rules: what experience says against a model, each rule with a code, its reason and its remedy in the guide."""
