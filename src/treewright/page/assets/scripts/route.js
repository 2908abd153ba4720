// route
