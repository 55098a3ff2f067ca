#if os(Linux) || os(Android)
/// Where a libcurl finds the authorities that the system trusts.
enum SystemAuthorities: Equatable {
    /// Where it looks by itself.
    case builtIn
    /// A PEM file.
    case file(String)
    /// A directory of certificates, each under the hash of its subject.
    case directory(String)

    /// Of Android: first those that updates of the system's modules bring, from Android 14 on.
    static let directories = ["/apex/com.android.conscrypt/cacerts", "/system/etc/security/cacerts"]
    /// Of Debian, Fedora, openSUSE and Alpine.
    static let files = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// A directory of Android's comes first, then what libcurl was built with: for want of its file it refuses every
    /// server, whatever its directory has. Next are the files of distributions, for a libcurl that was built for another
    /// one or without any, and then that directory alone.
    static func choose(file: String?, directory: String?, exists: (String) -> Bool) -> Self {
        if let android = directories.first(where: exists) { return .directory(android) }
        let place = directory.flatMap { exists($0) ? $0 : nil }
        if file.map(exists) ?? (place != nil) { return .builtIn }
        if let known = files.first(where: exists) { return .file(known) }
        return place.map(Self.directory) ?? .builtIn
    }

    /// Those of this system, for the libcurl that is loaded.
    static func ofSystem() -> Self {
        choose(
            file: CurlLibrary.authoritiesFile,
            directory: CurlLibrary.authoritiesDirectory
        ) { SystemCalls.isReadable($0) }
    }
}
#endif
