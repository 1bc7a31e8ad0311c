// Packages are installed without the programs that compile parts of them. The one of isolated-vm runs the scripts of
// Directus' flows, of which the tests have none.
const Module = require('node:module');

const load = Module._load;
Module._load = (name, ...others) => (name === './out/isolated_vm' ? {} : load(name, ...others));
