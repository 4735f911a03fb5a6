"""The lint rules, grouped by what they are about; `ce_author.lint.registry` lists the modules."""
