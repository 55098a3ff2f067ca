// Modules that this target's users also need, visible only within the package.
@_exported import ErrandEssentials
