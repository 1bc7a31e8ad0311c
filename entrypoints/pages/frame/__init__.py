"""What all pages share: rendering, languages, brands, assets, forms, refusals, and where a sign-in leads."""
