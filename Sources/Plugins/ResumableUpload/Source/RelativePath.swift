/// The path of a file as seen from a directory.
enum RelativePath {
    /// Returns the way from the directory to the file, such as `../film.mp4`, with as many steps up as it takes. It stays
    /// the same when both are moved together, as on iOS with each update of the app.
    ///
    /// - Parameters:
    ///   - path: an absolute path.
    ///   - directory: an absolute path.
    static func of(_ path: String, from directory: String) -> String {
        let (target, base) = (steps(path), steps(directory))
        let shared = zip(target, base).prefix { $0 == $1 }.count
        return (base.dropFirst(shared).map { _ in ".." } + target.dropFirst(shared)).joined(separator: "/")
    }

    /// The names on the way, without those that lead nowhere.
    private static func steps(_ path: String) -> [Substring] {
        var steps: [Substring] = []
        for step in path.split(separator: "/") where step != "." {
            if step == ".." { steps = steps.dropLast() } else { steps.append(step) }
        }
        return steps
    }
}
