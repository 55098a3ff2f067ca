// Start here: `filters: [.signing(try HTTPMessageSigner(key: key, keyID: "app"))]` signs every request of an agent.
//
// Components/  what a signature covers      SignatureComponent, SignatureInput, SignableMessage
// Digest/      digests of bodies            ContentDigest
// HTTP/        HTTP message signatures      HTTPMessageSigner, HTTPMessageVerifier, AcceptSignature
// AWS/         AWS Signature Version 4      AWSRequestSigner, AWSCredentials
// Filter/      signing and verifying        RequestSigner, SigningFilter, SignatureVerificationFilter

@_exported public import ErrandKeys
