"""Stage `pools`: apply the labels, and draw candidate pools."""
