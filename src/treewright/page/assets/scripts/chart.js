// chart
