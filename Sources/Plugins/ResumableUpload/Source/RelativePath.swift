enum RelativePath {
    /// Returns the path from a directory to a file, such as `../film.mp4`. Both paths must be absolute. The result
    /// doesn't change if both are moved together, which happens in every app update on iOS.
    static func of(_ path: String, from directory: String) -> String {
        let (target, base) = (steps(path), steps(directory))
        let shared = zip(target, base).prefix { $0 == $1 }.count
        return (base.dropFirst(shared).map { _ in ".." } + target.dropFirst(shared)).joined(separator: "/")
    }

    /// Splits a path into names, and resolves `.` and `..`.
    private static func steps(_ path: String) -> [Substring] {
        var steps: [Substring] = []
        for step in path.split(separator: "/") where step != "." {
            if step == ".." { steps = steps.dropLast() } else { steps.append(step) }
        }
        return steps
    }
}
