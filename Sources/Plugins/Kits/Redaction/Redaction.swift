// Start here: ``RedactedBody`` is a JSON, form, XML, HTML, or multipart body whose secrets a `Redactor` of ErrandHTTP
// has masked.
