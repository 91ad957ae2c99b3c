/** The page. */
