// Start here: `filters: [.authentication(session)]` with an ``OAuthSession``.
//
// Client/   a client's requests to a server     OAuthClient, ClientAuthentication, DeviceSignIn
// Server/   the server's endpoints              OAuthServer
// Browser/  where people sign in                OAuthBrowser, LoopbackBrowser
// Token/    the server's responses              OAuthToken
// Store/    where a token is kept               TokenStore, MemoryTokenStore, FileTokenStore
// Session/  one user's token, for an agent      OAuthSession
// DPoP/     proofs that a token is used by its owner

@_exported public import ErrandAuthentication
@_exported public import ErrandKeys
