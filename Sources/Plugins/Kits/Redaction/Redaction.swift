// Start here: ``RedactedBody`` is a JSON, form, XML, HTML, or multipart body with its secrets masked by ErrandHTTP's
// `Redactor`.
