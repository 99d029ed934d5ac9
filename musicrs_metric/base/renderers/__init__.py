"""Renderers of `musicrs_metric.base.tables.Table`. Pages use the macro of `base/templates/table.html.j2`."""
