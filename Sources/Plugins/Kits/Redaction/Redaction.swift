// ``RedactedBody`` is what a `Redactor` of ErrandHTTP leaves of a body: JSON, forms and multipart bodies without secrets.
