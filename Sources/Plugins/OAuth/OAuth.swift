// Start here: `filters: [.authentication(session)]` with an ``OAuthSession``.
//
// Client/   what a client asks a server for     OAuthClient, ClientAuthentication, DeviceSignIn
// Server/   the server's endpoints              OAuthServer
// Browser/  where people sign in                OAuthBrowser, LoopbackBrowser
// Token/    what a server returns               OAuthToken
// Store/    where a token is kept               TokenStore, MemoryTokenStore, FileTokenStore
// Session/  one user's token, for an agent      OAuthSession
// DPoP/     proofs that a token is used by its owner

@_exported public import ErrandAuthentication
@_exported public import ErrandKeys
